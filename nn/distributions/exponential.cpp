#include <pollen/nn/distributions/exponential.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/density_class.hpp>

namespace pollen::distributions {

namespace {

// x = e / rate        dx/drate = -x / rate
template <Real T>
struct ExponentialDraw {
    using B = Batch<T>;
    B rate;

    explicit ExponentialDraw(const B& r) : rate(r) {}
    B value(const B& e) const { return e / rate; }
    void slopes(const B& e, const Wanted&, B* d) const {
        d[0] = B(T(1)) / rate;
        d[1] = -e / rate / rate;
    }
};

// With r = (rate of q) / (rate of p):
//     KL = r - 1 - log r
template <Real T>
struct ExponentialKl {
    using B = Batch<T>;
    B q;

    explicit ExponentialKl(const B& rate_q) : q(rate_q) {}
    B value(const B& p) const {
        const B ratio = q / p;
        return ratio - B(T(1)) - kernels::log(ratio);
    }
    void slopes(const B& p, const Wanted&, B* d) const {
        const B one(T(1));
        d[0] = (one - q / p) / p;
        d[1] = one / p - one / q;
    }
};

}  // namespace

//     dlog p/dx = -rate        dlog p/drate = 1 / rate - x
template <Real T>
struct ExponentialLaw {
    static constexpr const char *name = "Exponential", *node = "exponential_lpdf";
    static constexpr std::array parameters{Parameter{"rate", Bound::positive}};
    using B = Batch<T>;

    B rate, log_rate;

    explicit ExponentialLaw(const B& r) : rate(r), log_rate(kernels::log(r)) {}

    B value(const B& x) const { return outside<T>(x < B(T(0)), log_rate - rate * x); }
    void slopes(const B& x, const Wanted&, B* d) const {
        const auto off = x < B(T(0));
        d[0] = zero_where<T>(off, -rate);
        d[1] = zero_where<T>(off, B(T(1)) / rate - x);
    }

    static double mean(double rate) { return 1 / rate; }
    static double variance(double rate) { return 1 / (rate * rate); }
    static double cdf(double x, double rate) { return x > 0 ? -math::expm1(-rate * x) : zero_or_nan(x); }

    using Draw = ExponentialDraw<T>;
    static constexpr auto noise = exponential_noise<T>;
    using Kl = ExponentialKl<T>;
};

POLLEN_INSTANTIATE_DENSITY(Exponential, 1, pathwise | divergence)

}  // namespace pollen::distributions
