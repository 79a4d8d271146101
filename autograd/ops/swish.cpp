#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = x s, s = sigmoid(x)        dL/dx += dL/dy s (1 + x (1 - s))
template <Real T>
Var<T> swish(Var<T> x) {
    return unary(
        "swish", x, [](auto v) { return kernels::swish<T>(v); },
        [](auto g, auto v, auto) { return g * kernels::swish_slope<T>(v); });
}

POLLEN_INSTANTIATE_UNARY(swish)

}  // namespace pollen
