#include <pollen/nn/distributions/gamma.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/density_class.hpp>
#include <pollen/nn/distributions/detail/gamma_draws.hpp>
#include <pollen/nn/distributions/detail/incomplete.hpp>

namespace pollen::distributions {

namespace {

// With (a, b) of p and (c, d) of q:
//     KL = (a - c) digamma(a) - lgamma(a) + lgamma(c) + c log(b / d) + a (d - b) / b
template <Real T>
struct GammaKl {
    using B = Batch<T>;
    B b, c, d;

    GammaKl(const B& rate_p, const B& shape_q, const B& rate_q) : b(rate_p), c(shape_q), d(rate_q) {}

    B value(const B& a) const {
        return (a - c) * kernels::digamma(a) - kernels::lgamma(a) + kernels::lgamma(c) + c * kernels::log<T>(b / d) +
               a * (d - b) / b;
    }
    void slopes(const B& a, const Wanted&, B* out) const {
        out[0] = (a - c) * kernels::trigamma(a) + (d - b) / b;
        out[1] = (c - a * d / b) / b;
        out[2] = kernels::digamma(c) - kernels::digamma(a) + kernels::log<T>(b / d);
        out[3] = a / b - c / d;
    }
};

// x = g / rate is given; its slope along the shape comes as a parameter.
//     dx/drate = -x / rate
template <Real T>
struct GammaDraw {
    using B = Batch<T>;
    B slope, rate;

    GammaDraw(const B& dx, const B&, const B& b) : slope(dx), rate(b) {}
    B value(const B& x) const { return x; }
    void slopes(const B& x, const Wanted&, B* d) const {
        d[0] = d[1] = B(T(0));
        d[2] = slope;
        d[3] = -x / rate;
    }
};

template <Real T>
struct GammaNoise {
    Tensor<double> shape, log_g;
    Tensor<T> x;

    GammaNoise(const Shape& size, const Arg<T>& a, const Arg<T>& b, const RandomKey& key)
        : shape(repeated<T>("Gamma", a, size)), log_g(Tensor<double>::empty(size)), x(Tensor<T>::empty(size)) {
        const Tensor<double> rate = repeated<T>("Gamma", b, size);
        kernels::fill_log_gamma(key, 0, shape.values(), {log_g.fresh_data(), static_cast<std::size_t>(size.size())});
        for (std::int64_t i = 0; i < size.size(); ++i)
            x.fresh_data()[i] = static_cast<T>(math::exp(log_g.data()[i]) / rate.data()[i]);
    }

    // dx/dshape = x dlog g/dshape
    Tensor<T> slope() const {
        Tensor<T> out = Tensor<T>::empty(x.shape());
        T* to = out.fresh_data();
        parallel_for(x.size(), 256, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                to[i] = static_cast<T>(static_cast<double>(x.data()[i]) *
                                       kernels::log_gamma_slope(shape.data()[i], log_g.data()[i]));
        });
        return out;
    }
};

}  // namespace

// With y = rate x:
//     log p = shape log y - y - lgamma(shape) - log x
// For a large shape the terms nearly cancel. With t = y / shape - 1 and Stirling's series for lgamma,
//     log p = -shape (t - log(1 + t)) + log(shape / (2 pi)) / 2 - lgamma_rest(shape) - log x
//
//     dlog p/dx = (shape - 1) / x - rate    dlog p/dshape = log y - digamma(shape)    dlog p/drate = (shape - y) / rate
template <Real T>
struct GammaLaw {
    static constexpr const char *name = "Gamma", *node = "gamma_lpdf";
    static constexpr std::array parameters{Parameter{"shape", Bound::finite_positive},
                                           Parameter{"rate", Bound::finite_positive}};
    using B = Batch<T>;

    B shape, rate, log_shape, log_rate, constant;
    xsimd::batch_bool<T> large;

    GammaLaw(const B& a, const B& b)
        : shape(a),
          rate(b),
          log_shape(kernels::log(a)),
          log_rate(kernels::log(b)),
          large(a >= B(kernels::series_from<T>)) {
        const B stirling = B(T(0.5)) * log_shape - B(T(kernels::log_sqrt_2pi)) - kernels::lgamma_rest(shape);
        constant = xsimd::select(large, stirling, -kernels::lgamma(shape));
    }

    // At 0 the density is 0, the rate, or infinite, as the shape is above, at or below 1.
    static auto off(const B& x) { return x < B(T(0)) || x == B(std::numeric_limits<T>::infinity()); }
    B at_zero() const {
        const B one(T(1)), infinite(std::numeric_limits<T>::infinity());
        return xsimd::select(shape == one, log_rate, xsimd::select(shape > one, -infinite, infinite));
    }
    auto dead(const B& x) const { return off(x) || (x == B(T(0)) && shape > B(T(1))); }

    B value(const B& x) const {
        const B log_x = kernels::log(x), log_y = log_rate + log_x, y = rate * x, t = (y - shape) / shape;
        const B peak = -shape * (t - kernels::log_ratio(t, log_y, log_shape));
        const B inside = xsimd::select(large, peak, shape * log_y - y) + constant - log_x;
        return outside<T>(off(x), xsimd::select(x == B(T(0)), at_zero(), inside));
    }
    void slopes(const B& x, const Wanted& wanted, B* d) const {
        const B one(T(1)), y = rate * x;
        d[0] = zero_where<T>(dead(x), xsimd::select(shape == one, B(T(0)), (shape - one) / x) - rate);
        d[2] = zero_where<T>(dead(x), (shape - y) / rate);
        if (!wanted[1]) return;
        const B log_y = log_rate + kernels::log(x), t = (y - shape) / shape;
        const B far = log_y - kernels::digamma(shape);
        const B near = kernels::log_ratio(t, log_y, log_shape) + kernels::digamma_rest(shape);
        d[1] = zero_where<T>(dead(x), xsimd::select(large, near, far));
    }

    static double mean(double a, double b) { return a / b; }
    static double variance(double a, double b) { return a / b / b; }
    static double cdf(double x, double a, double b) { return kernels::gamma_p(a, x * b); }

    static Tensor<T> sample(const Shape& size, const RandomKey& key, const Arg<T>& a, const Arg<T>& b) {
        return GammaNoise<T>(size, a, b, key).x;
    }
    static Var<T> rsample(const Shape& size, const RandomKey& key, const Arg<T>& a, const Arg<T>& b) {
        const auto draw = [size, key](const char* op, const Args<T, 2>& now, Pool& pool, T* x, T* slopes) {
            check_parameters<GammaLaw>(now);
            const GammaNoise<T> noise(size, *now[0].var(), *now[1].var(), key);
            const Tensor<T> along = now[0].needs_grad() ? noise.slope() : Tensor<T>::zeros(size);
            evaluate_terms<GammaDraw<T>>(op, Args<T, 4>{noise.x, along, now[0], now[1]}, pool, x, slopes);
        };
        return record_draws(size, std::array{a, b}, draw);
    }

    using Kl = GammaKl<T>;
};

POLLEN_INSTANTIATE_DENSITY(Gamma, 2, pathwise | divergence)

}  // namespace pollen::distributions
