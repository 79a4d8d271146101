#include <pollen/autograd/kernels/log.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = log(1 + x)        dL/dx += dL/dy / (1 + x)
template <Real T>
Var<T> log1p(Var<T> x) {
    return unary(
        "log1p", x, [](auto v) { return kernels::log1p(v); },
        [](auto g, auto v, auto) { return g / (v + Batch<T>(T(1))); });
}

POLLEN_INSTANTIATE_UNARY(log1p)

}  // namespace pollen
