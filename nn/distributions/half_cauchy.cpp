#include <pollen/nn/distributions/half_cauchy.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/density_class.hpp>

#include <numbers>

namespace pollen::distributions {

// With a = x / scale:
//     dlog p/dx = -2 a / (1 + a^2) / scale        dlog p/dscale = (2 a^2 / (1 + a^2) - 1) / scale
template <Real T>
struct HalfCauchyLaw {
    static constexpr const char *name = "HalfCauchy", *node = "half_cauchy_lpdf";
    static constexpr std::array parameters{Parameter{"scale", Bound::positive}};
    using B = Batch<T>;

    B scale, inverse, constant;

    explicit HalfCauchyLaw(const B& s)
        : scale(s), inverse(B(T(1)) / s), constant(B(T(kernels::log_2_over_pi)) - kernels::log(s)) {}

    B value(const B& x) const { return outside<T>(x < B(T(0)), constant - kernels::log1p_square<T>(x / scale)); }
    void slopes(const B& x, const Wanted&, B* d) const {
        const kernels::CauchyShares<T> share(x / scale);
        const auto off = x < B(T(0));
        d[0] = zero_where<T>(off, B(T(-2)) * share.odd * inverse);
        d[1] = zero_where<T>(off, (share.even + share.even - B(T(1))) * inverse);
    }

    static double mean(double) { return INFINITY; }
    static double variance(double) { return INFINITY; }
    static double cdf(double x, double scale) {
        return x > 0 ? 2 * std::numbers::inv_pi * math::atan(x / scale) : zero_or_nan(x);
    }

    using Draw = ScaleDraw<T>;
    static constexpr auto noise = half_cauchy_noise<T>;
};

POLLEN_INSTANTIATE_DENSITY(HalfCauchy, 1, pathwise)

}  // namespace pollen::distributions
