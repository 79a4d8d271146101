#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = sqrt(x)        dL/dx += dL/dy / (2 y)
template <Real T>
Var<T> sqrt(Var<T> x) {
    return unary(
        "sqrt", x, [](auto v) { return xsimd::sqrt(v); }, [](auto g, auto, auto y) { return g / (y + y); });
}

POLLEN_INSTANTIATE_UNARY(sqrt)

}  // namespace pollen
