#include <pollen/nn/distributions/beta.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/density_class.hpp>
#include <pollen/nn/distributions/detail/gamma_draws.hpp>
#include <pollen/nn/distributions/detail/incomplete.hpp>

namespace pollen::distributions {

namespace {

// With (a, b) of p and (c, d) of q:
//     KL = log B(c, d) - log B(a, b) + (a - c) digamma(a) + (b - d) digamma(b) + (c - a + d - b) digamma(a + b)
template <Real T>
struct BetaKl {
    using B = Batch<T>;
    B b, c, d;

    BetaKl(const B& b_p, const B& a_q, const B& b_q) : b(b_p), c(a_q), d(b_q) {}

    B value(const B& a) const {
        return kernels::log_beta(c, d) - kernels::log_beta(a, b) + (a - c) * kernels::digamma(a) +
               (b - d) * kernels::digamma(b) + (c - a + d - b) * kernels::digamma<T>(a + b);
    }
    void slopes(const B& a, const Wanted&, B* out) const {
        const B both = (c - a + d - b) * kernels::trigamma<T>(a + b);
        const B sums = kernels::digamma<T>(a + b) - kernels::digamma<T>(c + d);
        out[0] = (a - c) * kernels::trigamma(a) + both;
        out[1] = (b - d) * kernels::trigamma(b) + both;
        out[2] = kernels::digamma(c) - kernels::digamma(a) + sums;
        out[3] = kernels::digamma(d) - kernels::digamma(b) + sums;
    }
};

// g and h, one after the other
template <Real T>
struct BetaNoise {
    Tensor<double> shapes, logs;
    Tensor<T> x;

    BetaNoise(const Shape& size, const Arg<T>& a, const Arg<T>& b, const RandomKey& key)
        : shapes(Tensor<double>::empty(Shape{2, size.size()})),
          logs(Tensor<double>::empty(shapes.shape())),
          x(Tensor<T>::empty(size)) {
        const std::int64_t n = size.size();
        const Tensor<double> first = repeated<T>("Beta", a, size), second = repeated<T>("Beta", b, size);
        std::copy_n(first.data(), n, shapes.fresh_data());
        std::copy_n(second.data(), n, shapes.fresh_data() + n);
        kernels::fill_log_gamma(key, 0, shapes.values(), {logs.fresh_data(), static_cast<std::size_t>(2 * n)});
        for (std::int64_t i = 0; i < n; ++i)
            x.fresh_data()[i] = static_cast<T>(1 / (1 + math::exp(logs.data()[n + i] - logs.data()[i])));
    }

    // x = g / (g + h)        dx/da = x (1 - x) dlog g/da        dx/db = -x (1 - x) dlog h/db
    void write_slope(int k, T* to) const {
        const std::int64_t n = x.size();
        parallel_for(n, 256, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const double e = math::exp(-std::abs(logs.data()[n + i] - logs.data()[i]));
                const double along = kernels::log_gamma_slope(shapes.data()[k * n + i], logs.data()[k * n + i]);
                to[i] = static_cast<T>((k == 0 ? along : -along) * e / ((1 + e) * (1 + e)));
            }
        });
    }
};

}  // namespace

// For large a and b the terms of log p nearly cancel. With n = a + b, s = x n / a - 1, t = (1 - x) n / b - 1 and
// Stirling's series,
//     log p = a log(1 + s) + b log(1 + t) + log(a b / (2 pi n)) / 2 + rest(n) - rest(a) - rest(b) - log x - log(1 - x)
//
//     dlog p/dx = (a - 1) / x - (b - 1) / (1 - x)
//     dlog p/da = log x - digamma(a) + digamma(a + b)        dlog p/db = log(1 - x) - digamma(b) + digamma(a + b)
template <Real T>
struct BetaLaw {
    static constexpr const char *name = "Beta", *node = "beta_lpdf";
    static constexpr std::array parameters{Parameter{"a", Bound::finite_positive},
                                           Parameter{"b", Bound::finite_positive}};
    using B = Batch<T>;

    B a, b, log_share_a, log_share_b, constant;  // log(a / n), log(b / n)
    xsimd::batch_bool<T> large;

    BetaLaw(const B& first, const B& second)
        : a(first), b(second), large(xsimd::min(first, second) >= B(kernels::series_from<T>)) {
        const B n = a + b;
        log_share_a = kernels::log<T>(a / n);
        log_share_b = kernels::log<T>(b / n);
        const B rest = kernels::lgamma_rest(n) - kernels::lgamma_rest(a) - kernels::lgamma_rest(b);
        const B peak = B(T(0.5)) * (log_share_a + kernels::log(b)) - B(T(kernels::log_sqrt_2pi)) + rest;
        constant = xsimd::select(large, peak, -kernels::log_beta(a, b));
    }

    auto dead(const B& x) const {
        const B zero(T(0)), one(T(1));
        return x < zero || x > one || (x == zero && a > one) || (x == one && b > one);
    }
    // (p - 1) log v, 0 where p is 1
    static B power(const B& p, const B& log_v) {
        const B one(T(1));
        return xsimd::select(p == one, B(T(0)), (p - one) * log_v);
    }

    B value(const B& x) const {
        const B y = B(T(1)) - x, log_x = kernels::log(x), log_y = kernels::log1p<T>(-x), d = x * b - y * a;
        const B la = kernels::log_ratio<T>(d / a, log_x, log_share_a);
        const B lb = kernels::log_ratio<T>(-d / b, log_y, log_share_b);
        const B peak = a * la + b * lb - log_x - log_y;
        return outside<T>(dead(x), xsimd::select(large, peak, power(a, log_x) + power(b, log_y)) + constant);
    }
    void slopes(const B& x, const Wanted& wanted, B* d) const {
        const B zero(T(0)), one(T(1));
        const B left = xsimd::select(a == one, zero, (a - one) / x);
        const B right = xsimd::select(b == one, zero, (b - one) / (one - x));
        d[0] = zero_where<T>(dead(x), left - right);
        if (!wanted[1] && !wanted[2]) return;
        const B all = kernels::digamma<T>(a + b);
        d[1] = zero_where<T>(dead(x), kernels::log(x) - (kernels::digamma(a) - all));
        d[2] = zero_where<T>(dead(x), kernels::log1p<T>(-x) - (kernels::digamma(b) - all));
    }

    static double mean(double a, double b) { return a / (a + b); }
    static double variance(double a, double b) { return a / (a + b) * (b / (a + b)) / (a + b + 1); }
    static double cdf(double x, double a, double b) { return kernels::beta_p(a, b, x, 1 - x); }

    static Tensor<T> sample(const Shape& shape, const RandomKey& key, const Arg<T>& a, const Arg<T>& b) {
        return BetaNoise<T>(shape, a, b, key).x;
    }
    static Var<T> rsample(const Shape& shape, const RandomKey& key, const Arg<T>& a, const Arg<T>& b);

    using Kl = BetaKl<T>;
};

template <Real T>
Var<T> BetaLaw<T>::rsample(const Shape& shape, const RandomKey& key, const Arg<T>& a, const Arg<T>& b) {
    if (!a.var() && !b.var())
        throw TapeError("Beta: rsample: neither a nor b is a Var, so there is no tape; sample draws numbers");
    const auto draw = [shape, key](const char*, const Args<T, 2>& now, Pool&, T* x, T* slopes) {
        const ArgRef<T>&second = now[0], &first = now[1];
        check_parameters<BetaLaw>(Args<T, 2>{first, second});
        const BetaNoise<T> noise(shape, *first.var(), *second.var(), key);
        std::copy_n(noise.x.data(), shape.size(), x);
        if (second.needs_grad()) noise.write_slope(1, std::exchange(slopes, slopes + padded<T>(shape.size())));
        if (first.needs_grad()) noise.write_slope(0, slopes);
    };
    // b stands first, so that its gradient is added first.
    return record_draws(shape, std::array{b, a}, draw);
}

POLLEN_INSTANTIATE_DENSITY(Beta, 2, pathwise | divergence)

}  // namespace pollen::distributions
