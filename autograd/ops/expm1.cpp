#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = exp(x) - 1        dL/dx += dL/dy (y + 1)
template <Real T>
Var<T> expm1(Var<T> x) {
    return unary(
        "expm1", x, [](auto v) { return kernels::expm1(v); },
        [](auto g, auto, auto y) { return g * (y + Batch<T>(T(1))); });
}

POLLEN_INSTANTIATE_UNARY(expm1)

}  // namespace pollen
