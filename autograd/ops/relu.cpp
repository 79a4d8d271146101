#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = max(x, 0)        dL/dx += dL/dy where x > 0        NaN passes, and so does its gradient
template <Real T>
Var<T> relu(Var<T> x) {
    const auto zero_below = [](auto v, auto w) {
        const Batch<T> zero(T(0));
        return xsimd::select(v <= zero, zero, w);
    };
    return unary(
        "relu", x, [zero_below](auto v) { return zero_below(v, v); },
        [zero_below](auto g, auto v, auto) { return zero_below(v, g); });
}

POLLEN_INSTANTIATE_UNARY(relu)

}  // namespace pollen
