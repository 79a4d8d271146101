#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = tanh(x)        dL/dx += dL/dy (1 - y^2)
template <Real T>
Var<T> tanh(Var<T> x) {
    return unary(
        "tanh", x, [](auto v) { return kernels::tanh(v); }, [](auto g, auto, auto y) { return g * (T(1) - y * y); });
}

POLLEN_INSTANTIATE_UNARY(tanh)

}  // namespace pollen
