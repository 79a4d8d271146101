#include <pollen/nn/distributions/poisson.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/density_class.hpp>
#include <pollen/nn/distributions/detail/incomplete.hpp>

namespace pollen::distributions {

namespace {

// With r and s the rates:
//     KL = r log(r / s) - r + s
template <Real T>
struct PoissonKl {
    using B = Batch<T>;
    B s;

    explicit PoissonKl(const B& rate_q) : s(rate_q) {}
    B value(const B& r) const { return r * kernels::log<T>(r / s) + (s - r); }
    void slopes(const B& r, const Wanted&, B* d) const {
        d[0] = kernels::log<T>(r / s);
        d[1] = (s - r) / s;
    }
};

// By adding up the probabilities until they exceed u.
double small_draw(double rate, double u) {
    double p = math::exp(-rate), k = 0;
    while (u >= p && p > 0) {
        u -= p;
        p *= rate / ++k;
    }
    return k;
}

// Hoermann, The transformed rejection method for generating Poisson random variables, 1993, algorithm PTRS: for rates
// from 10 on.
class LargeDraw {
  public:
    explicit LargeDraw(double rate)
        : rate_(rate),
          log_rate_(math::log(rate)),
          b_(0.931 + 2.53 * std::sqrt(rate)),
          a_(-0.059 + 0.02483 * b_),
          log_inverse_alpha_(math::log(1.1239 + 1.1328 / (b_ - 3.4))),
          v_r_(0.9277 - 3.6224 / (b_ - 2)) {}

    // The count made of two uniform numbers, negative where they are refused.
    double operator()(double u, double v) const {
        u -= 0.5;
        const double near = 0.5 - std::abs(u), k = std::floor((2 * a_ / near + b_) * u + rate_ + 0.43);
        if (near >= 0.07 && v <= v_r_) return k;
        if (k < 0 || !std::isfinite(k) || (near < 0.013 && v > near)) return -1;
        const double left = math::log(v) + log_inverse_alpha_ - math::log(a_ / (near * near) + b_);
        return left <= k * log_rate_ - rate_ - math::lgamma(k + 1) ? k : -1;
    }

  private:
    double rate_, log_rate_, b_, a_, log_inverse_alpha_, v_r_;
};

template <class T>
auto no_count(const Batch<T>& x) {
    return x < Batch<T>(T(0)) || x == Batch<T>(std::numeric_limits<T>::infinity()) || x > xsimd::floor(x);
}

// For a large count the terms of log p nearly cancel. With t = rate / x - 1, r = log(1 + t) and Stirling's series for
// log x!,
//     log p = -x (t - r) - log(2 pi x) / 2 - lgamma_rest(x)
template <class T>
Batch<T> log_poisson(const Batch<T>& x, const Batch<T>& log_x, const Batch<T>& rate, const Batch<T>& log_rate,
                     const Batch<T>& t, const Batch<T>& r) {
    using B = Batch<T>;
    const auto large = x >= B(kernels::series_from<T>);
    const B peak = -x * (t - r) - B(T(0.5)) * log_x - B(T(kernels::log_sqrt_2pi)) - kernels::lgamma_rest(x);
    if (xsimd::all(large)) return outside<T>(no_count(x), peak);
    const B plain = x * log_rate - rate - kernels::lgamma<T>(x + B(T(1)));
    return outside<T>(no_count(x), xsimd::select(large, peak, plain));
}

}  // namespace

// dlog p/drate = x / rate - 1
template <Real T>
struct PoissonLaw {
    static constexpr const char *name = "Poisson", *node = "poisson_lpmf";
    static constexpr std::array parameters{Parameter{"rate", Bound::finite_positive}};
    using B = Batch<T>;

    B rate, log_rate;

    explicit PoissonLaw(const B& r) : rate(r), log_rate(kernels::log(r)) {}

    B value(const B& x) const {
        const B log_x = kernels::log(x), t = (rate - x) / x;
        return log_poisson<T>(x, log_x, rate, log_rate, t, kernels::log_ratio(t, log_rate, log_x));
    }
    void slopes(const B& x, const Wanted&, B* d) const {
        d[0] = B(T(0));
        d[1] = zero_where<T>(no_count(x), (x - rate) / rate);
    }

    static double mean(double rate) { return rate; }
    static double variance(double rate) { return rate; }
    static double cdf(double x, double rate) {
        return x >= 0 ? kernels::gamma_q(std::floor(x) + 1, rate) : zero_or_nan(x);
    }

    static Tensor<T> sample(const Shape& shape, const RandomKey& key, const Arg<T>& rate);
    using Kl = PoissonKl<T>;
};

// Attempt t for element i of n uses the uniform numbers 2 t n + i and (2 t + 1) n + i.
template <Real T>
Tensor<T> PoissonLaw<T>::sample(const Shape& shape, const RandomKey& key, const Arg<T>& rate_) {
    const Tensor<double> rates = repeated<T>(name, rate_, shape);
    const auto n = static_cast<std::uint64_t>(shape.size());
    Tensor<double> uniforms = Tensor<double>::empty(Shape{2, shape.size()});
    double* u = uniforms.fresh_data();
    fill_uniform(key, 0, std::span<double>(u, 2 * n));
    Tensor<T> out = Tensor<T>::empty(shape);
    T* to = out.fresh_data();
    parallel_for(shape.size(), 4096, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const auto at = static_cast<std::uint64_t>(i);
            const double mean = rates.data()[i];
            double k = -1;
            if (mean < 10) {
                k = small_draw(mean, u[at]);
            } else {
                const LargeDraw draw(mean);
                k = draw(u[at], u[n + at]);
                for (std::uint64_t attempt = 1; k < 0; ++attempt)
                    k = draw(uniform_at<double>(key, 2 * attempt * n + at),
                             uniform_at<double>(key, (2 * attempt + 1) * n + at));
            }
            to[i] = static_cast<T>(k);
        }
    });
    return out;
}

// dlog p/dlog rate = x - rate
template <Real T>
struct PoissonLogLaw {
    static constexpr const char *name = "PoissonLog", *node = "poisson_log_lpmf";
    static constexpr std::array parameters{Parameter{"log_rate", Bound::number}};
    using B = Batch<T>;

    B rate, log_rate;

    explicit PoissonLogLaw(const B& l) : rate(kernels::exp(l)), log_rate(l) {}

    B value(const B& x) const {
        const B log_x = kernels::log(x), r = log_rate - log_x;
        const B some = log_poisson<T>(x, log_x, rate, log_rate, kernels::expm1(r), r);
        return xsimd::select(x == B(T(0)), -rate, some);  // also where the rate is 0
    }
    void slopes(const B& x, const Wanted&, B* d) const {
        d[0] = B(T(0));
        d[1] = zero_where<T>(no_count(x), x - rate);
    }

    static double mean(double l) { return math::exp(l); }
    static double variance(double l) { return math::exp(l); }
    static double cdf(double x, double l) { return PoissonLaw<T>::cdf(x, math::exp(l)); }

    static Tensor<T> sample(const Shape& shape, const RandomKey& key, const Arg<T>& l) {
        Tensor<T> rates = Tensor<T>::empty(l.shape());
        kernels::map(
            rates.size(), rates.fresh_data(), [](const B& at) { return kernels::exp(at); },
            kernels::Stream<T>{l.data()});
        return PoissonLaw<T>::sample(shape, key, rates);
    }
};

POLLEN_INSTANTIATE_DENSITY(Poisson, 1, divergence)
POLLEN_INSTANTIATE_DENSITY(PoissonLog, 1, 0)

}  // namespace pollen::distributions
