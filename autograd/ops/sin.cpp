#include <pollen/autograd/kernels/trigonometry.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = sin(x)        dL/dx += dL/dy cos(x)
template <Real T>
Var<T> sin(Var<T> x) {
    return unary(
        "sin", x, [](auto v) { return kernels::sin(v); }, [](auto g, auto v, auto) { return g * kernels::cos(v); });
}

POLLEN_INSTANTIATE_UNARY(sin)

}  // namespace pollen
