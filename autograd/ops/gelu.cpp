#include <pollen/autograd/kernels/erf.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = x Phi(x), Phi the normal distribution function        dL/dx += dL/dy (Phi(x) + x exp(-x^2 / 2) / sqrt(2 pi))
//
// With the tail q = 1 - Phi|x| this is x q for x < 0, else x - x q. The factor x of q is cut off where q is 0 anyway,
// so that the limits at the infinities come out right.
template <Real T>
Var<T> gelu(Var<T> x) {
    constexpr T bound = kernels::ErfConstants<T>::tail_is_zero;
    return unary(
        "gelu", x,
        [](auto v) {
            const auto [exponential, ratio] = kernels::normal_tail(v);
            const Batch<T> tail = exponential * (ratio * kernels::between(v, -bound, bound));
            return xsimd::select(v < Batch<T>(T(0)), tail, v - tail);
        },
        [](auto g, auto v, auto) {
            const auto [exponential, ratio] = kernels::normal_tail(v);
            const Batch<T> one_over_root_two_pi(T(0.398942280401432677940)), tail = exponential * ratio;
            const Batch<T> cdf = xsimd::select(v < Batch<T>(T(0)), tail, Batch<T>(T(1)) - tail);
            const Batch<T> density = one_over_root_two_pi * exponential;
            return g * kernels::multiply_add(kernels::between(v, -bound, bound), density, cdf);
        });
}

POLLEN_INSTANTIATE_UNARY(gelu)

}  // namespace pollen
