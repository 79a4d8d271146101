#include <pollen/autograd/kernels/erf.hpp>
#include <pollen/autograd/ops/elementwise.hpp>

namespace pollen {

// y = x Phi(x), Phi the normal distribution function        dL/dx += dL/dy (Phi(x) + x exp(-x^2 / 2) / sqrt(2 pi))
//
// At -infinity both have their limit, 0: the factor x is cut off where Phi(x) is 0 anyway.
template <Real T>
Var<T> gelu(Var<T> x) {
    constexpr T bound = kernels::ErfConstants<T>::tail_is_zero;
    constexpr T one_over_root_two_pi = T(0.398942280401432677940);
    return unary(
        "gelu", x, [](auto v) { return xsimd::max(Batch<T>(-bound), v) * kernels::normal_cdf(v).cdf; },
        [](auto g, auto v, auto) {
            const auto [cdf, exponential] = kernels::normal_cdf(v);
            const Batch<T> density = Batch<T>(one_over_root_two_pi) * exponential;
            return g * xsimd::fma(kernels::between(v, -bound, bound), density, cdf);
        });
}

POLLEN_INSTANTIATE_UNARY(gelu)

}  // namespace pollen
