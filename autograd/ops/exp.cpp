#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = exp(x)        dL/dx += dL/dy y
template <Real T>
Var<T> exp(Var<T> x) {
    return unary(
        "exp", x, [](auto v) { return kernels::exp(v); }, [](auto g, auto, auto y) { return g * y; });
}

POLLEN_INSTANTIATE_UNARY(exp)

}  // namespace pollen
