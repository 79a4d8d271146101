#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = 1 / (1 + exp(-x))        dL/dx += dL/dy y (1 - y)
template <Real T>
Var<T> sigmoid(Var<T> x) {
    return unary(
        "sigmoid", x, [](auto v) { return kernels::sigmoid(v); },
        [](auto g, auto, auto y) { return g * y * (T(1) - y); });
}

POLLEN_INSTANTIATE_UNARY(sigmoid)

}  // namespace pollen
