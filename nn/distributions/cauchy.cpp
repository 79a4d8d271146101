#include <pollen/nn/distributions/cauchy.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/density_class.hpp>

#include <numbers>

namespace pollen::distributions {

// With a = (x - location) / scale:
//     dlog p/dx = -dlog p/dlocation = -2 a / (1 + a^2) / scale        dlog p/dscale = (2 a^2 / (1 + a^2) - 1) / scale
template <Real T>
struct CauchyLaw {
    static constexpr const char *name = "Cauchy", *node = "cauchy_lpdf";
    static constexpr std::array parameters{Parameter{"location"}, Parameter{"scale", Bound::positive}};
    using B = Batch<T>;

    B location, scale, inverse, constant;

    CauchyLaw(const B& m, const B& s)
        : location(m), scale(s), inverse(B(T(1)) / s), constant(-B(T(kernels::log_pi)) - kernels::log(s)) {}

    B value(const B& x) const { return constant - kernels::log1p_square<T>((x - location) / scale); }
    void slopes(const B& x, const Wanted&, B* d) const {
        const kernels::CauchyShares<T> share((x - location) / scale);
        d[1] = (share.odd + share.odd) * inverse;
        d[0] = -d[1];
        d[2] = (share.even + share.even - B(T(1))) * inverse;
    }

    static double mean(double, double) { return NAN; }
    static double variance(double, double) { return NAN; }
    static double cdf(double x, double m, double s) { return std::numbers::inv_pi * math::atan2(1.0, (m - x) / s); }

    using Draw = LocationScaleDraw<T>;
    static constexpr auto noise = cauchy_noise<T>;
};

POLLEN_INSTANTIATE_DENSITY(Cauchy, 2, pathwise)

}  // namespace pollen::distributions
