#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = |x|        dL/dx += dL/dy sign(x), 0 at 0
template <Real T>
Var<T> abs(Var<T> x) {
    return unary(
        "abs", x, [](auto v) { return xsimd::abs(v); },
        [](auto g, auto v, auto) {
            const Batch<T> zero(T(0));
            return xsimd::select(v > zero, g, xsimd::select(v < zero, -g, g * v));  // g v: 0, and NaN where x is NaN
        });
}

POLLEN_INSTANTIATE_UNARY(abs)

}  // namespace pollen
