#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = x s, s = sigmoid(x)        dL/dx += dL/dy s (1 + x (1 - s))
//
// The factor x is cut off where s is 0 or 1 anyway, so that the limits at the infinities come out right.
template <Real T>
Var<T> swish(Var<T> x) {
    constexpr T bound = -2 * kernels::ExpConstants<T>::lowest;
    return unary(
        "swish", x, [](auto v) { return xsimd::max(Batch<T>(-bound), v) * kernels::sigmoid(v); },
        [](auto g, auto v, auto) {
            // s and 1 - s are 1 / (1 + e) and e / (1 + e), so neither is lost beside 1.
            const Batch<T> one(T(1)), e = kernels::exp<T>(-xsimd::abs(v)), large = one / (one + e), small = e * large;
            const auto negative = v < Batch<T>(T(0));
            const Batch<T> s = xsimd::select(negative, small, large), rest = xsimd::select(negative, large, small);
            return g * s * kernels::multiply_add(kernels::between(v, -bound, bound), rest, one);
        });
}

POLLEN_INSTANTIATE_UNARY(swish)

}  // namespace pollen
