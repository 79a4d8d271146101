#include <pollen/nn/distributions/log_normal.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/density_class.hpp>
#include <pollen/nn/distributions/kernels/normal_kl.hpp>

namespace pollen::distributions {

namespace {

// x = exp(mu + sd e)        dx/dmu = x        dx/dsd = x e
template <Real T>
struct LogNormalDraw {
    using B = Batch<T>;
    B mu, sd;

    LogNormalDraw(const B& m, const B& s) : mu(m), sd(s) {}
    B value(const B& e) const { return kernels::exp<T>(mu + sd * e); }
    void slopes(const B& e, const Wanted&, B* d) const {
        d[1] = value(e);
        d[0] = d[1] * sd;
        d[2] = d[1] * e;
    }
};

}  // namespace

// With z = (log x - mu) / sd:
//     dlog p/dx = -(z / sd + 1) / x        dlog p/dmu = z / sd        dlog p/dsd = (z^2 - 1) / sd
template <Real T>
struct LogNormalLaw {
    static constexpr const char *name = "LogNormal", *node = "log_normal_lpdf";
    static constexpr std::array parameters{Parameter{"mu"}, Parameter{"sd", Bound::positive}};
    using B = Batch<T>;

    B mu, sd, constant;

    LogNormalLaw(const B& m, const B& s) : mu(m), sd(s), constant(-B(T(kernels::log_sqrt_2pi)) - kernels::log(s)) {}

    static auto off(const B& x) { return x <= B(T(0)) || x == B(std::numeric_limits<T>::infinity()); }
    B value(const B& x) const {
        const B log_x = kernels::log(x), z = (log_x - mu) / sd;
        return outside<T>(off(x), constant - log_x - B(T(0.5)) * z * z);
    }
    void slopes(const B& x, const Wanted&, B* d) const {
        const B one(T(1)), z = (kernels::log(x) - mu) / sd, slope = z / sd;
        d[0] = zero_where<T>(off(x), -(slope + one) / x);
        d[1] = zero_where<T>(off(x), slope);
        d[2] = zero_where<T>(off(x), (z * z - one) / sd);
    }

    static double mean(double m, double s) { return math::exp(m + 0.5 * s * s); }
    static double variance(double m, double s) { return math::expm1(s * s) * math::exp(2 * m + s * s); }
    static double cdf(double x, double m, double s) {
        return x > 0 ? normal_cdf((math::log(x) - m) / s) : zero_or_nan(x);
    }

    using Draw = LogNormalDraw<T>;
    static constexpr auto noise = normal_noise<T>;
    // The logarithm loses nothing, so this is the divergence of the normal distributions behind.
    using Kl = NormalKl<T>;
};

POLLEN_INSTANTIATE_DENSITY(LogNormal, 2, pathwise | divergence)

}  // namespace pollen::distributions
