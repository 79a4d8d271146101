#include <pollen/nn/distributions/half_normal.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/density_class.hpp>

namespace pollen::distributions {

// With z = x / sd:
//     dlog p/dx = -z / sd        dlog p/dsd = (z^2 - 1) / sd
template <Real T>
struct HalfNormalLaw {
    static constexpr const char *name = "HalfNormal", *node = "half_normal_lpdf";
    static constexpr std::array parameters{Parameter{"sd", Bound::positive}};
    using B = Batch<T>;

    B sd, constant;

    explicit HalfNormalLaw(const B& s) : sd(s), constant(-B(T(kernels::log_sqrt_half_pi)) - kernels::log(s)) {}

    B value(const B& x) const {
        const B z = x / sd;
        return outside<T>(x < B(T(0)), constant - B(T(0.5)) * z * z);
    }
    void slopes(const B& x, const Wanted&, B* d) const {
        const B z = x / sd;
        const auto off = x < B(T(0));
        d[0] = zero_where<T>(off, -z / sd);
        d[1] = zero_where<T>(off, (z * z - B(T(1))) / sd);
    }

    static double mean(double sd) { return sd * 0.79788456080286535588; }
    static double variance(double sd) { return sd * sd * 0.36338022763241865692; }
    static double cdf(double x, double sd) {
        return x > 0 ? math::erf(0.70710678118654752440 * x / sd) : zero_or_nan(x);
    }

    using Draw = ScaleDraw<T>;
    static constexpr auto noise = half_normal_noise<T>;
};

POLLEN_INSTANTIATE_DENSITY(HalfNormal, 1, pathwise)

}  // namespace pollen::distributions
