#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = x^2        dL/dx += 2 dL/dy x
template <Real T>
Var<T> square(Var<T> x) {
    return unary(
        "square", x, [](auto v) { return v * v; }, [](auto g, auto v, auto) { return g * (v + v); });
}

POLLEN_INSTANTIATE_UNARY(square)

}  // namespace pollen
