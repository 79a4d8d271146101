#include <pollen/autograd/kernels/trigonometry.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = cos(x)        dL/dx -= dL/dy sin(x)
template <Real T>
Var<T> cos(Var<T> x) {
    return unary(
        "cos", x, [](auto v) { return kernels::cos(v); }, [](auto g, auto v, auto) { return -g * kernels::sin(v); });
}

POLLEN_INSTANTIATE_UNARY(cos)

}  // namespace pollen
