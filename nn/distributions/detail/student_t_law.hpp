#pragma once

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/density_class.hpp>
#include <pollen/nn/distributions/detail/gamma_draws.hpp>
#include <pollen/nn/distributions/detail/incomplete.hpp>
#include <pollen/nn/distributions/kernels/log_product.hpp>
#include <pollen/nn/distributions/student_t.hpp>

namespace pollen::distributions {

// lgamma(h + 1/2) - lgamma(h) - log(h) / 2, and its derivative, by their series where the terms would cancel
template <class T>
Batch<T> lgamma_half_step(const Batch<T>& h) {
    const Batch<T> half(T(0.5)), w = Batch<T>(T(1)) / h, z = w * w;
    constexpr T series[] = {T(-1.0 / 8), T(1.0 / 192), T(-1.0 / 640), T(17.0 / 14336), T(-31.0 / 18432)};
    return xsimd::select(h < Batch<T>(T(sizeof(T) == 4 ? 4 : 12)),
                         kernels::lgamma<T>(h + half) - kernels::lgamma(h) - half * kernels::log(h),
                         w * kernels::polynomial(z, series));
}
template <class T>
Batch<T> digamma_half_step(const Batch<T>& h) {
    const Batch<T> half(T(0.5)), w = Batch<T>(T(1)) / h, z = w * w;
    constexpr T series[] = {T(1.0 / 8), T(-1.0 / 64), T(1.0 / 128), T(-17.0 / 2048), T(31.0 / 2048)};
    return xsimd::select(h < Batch<T>(T(sizeof(T) == 4 ? 5 : 20)),
                         kernels::digamma<T>(h + half) - kernels::digamma(h) - half * w,
                         z * kernels::polynomial(z, series));
}

// -log(1 - u) - u, where log(1 + w) = -log(1 - u) is known
template <class T>
Batch<T> log_beyond_first(const Batch<T>& u, const Batch<T>& log) {
    constexpr T series[] = {T(1.0 / 2), T(1.0 / 3), T(1.0 / 4),  T(1.0 / 5),  T(1.0 / 6), T(1.0 / 7),
                            T(1.0 / 8), T(1.0 / 9), T(1.0 / 10), T(1.0 / 11), T(1.0 / 12)};
    return xsimd::select(u < Batch<T>(T(0.05)), u * u * kernels::polynomial(u, series), log - u);
}

// Student's t is z / sqrt(2 g / nu), z normal and g a gamma variable of shape nu / 2.
template <Real T>
struct StudentNoise {
    Tensor<double> nu, log_g;
    Tensor<T> e;

    StudentNoise(const Shape& shape, const Arg<T>& n, const RandomKey& key)
        : nu(repeated<T>("StudentT", n, shape)), log_g(Tensor<double>::empty(shape)), e(Tensor<T>::empty(shape)) {
        const auto count = static_cast<std::size_t>(shape.size());
        Tensor<double> half = nu;
        for (double& h : half.mutable_values()) h *= 0.5;
        kernels::fill_log_gamma(key, count, half.values(), {log_g.fresh_data(), count});
        const Tensor<double> z = normal_noise<double>(shape, key);
        for (std::int64_t i = 0; i < shape.size(); ++i)
            e.fresh_data()[i] =
                static_cast<T>(z.data()[i] * math::exp(0.5 * (math::log(half.data()[i]) - log_g.data()[i])));
    }

    // de/dnu = e (1 / nu - dlog g/d(nu / 2) / 2) / 2
    void write_slope(T* to) const {
        for (std::int64_t i = 0; i < e.size(); ++i) {
            const double v = nu.data()[i], at = static_cast<double>(e.data()[i]);
            to[i] = static_cast<T>(0.5 * at * (1 / v - 0.5 * kernels::log_gamma_slope(0.5 * v, log_g.data()[i])));
        }
    }
};

// With z = (x - location) / scale, a^2 = z^2 / nu and u = a^2 / (1 + a^2):
//     dlog p/dx = -dlog p/dlocation = -(nu + 1) / nu z / (1 + a^2) / scale
//     dlog p/dscale = ((nu + 1) u - 1) / scale
//     dlog p/dnu = (digamma((nu + 1) / 2) - digamma(nu / 2) - 1 / nu - log(1 + a^2) + (nu + 1) / nu u) / 2
template <Real T>
struct StudentTLaw {
    static constexpr const char *name = "StudentT", *node = "student_t_lpdf";
    static constexpr std::array parameters{Parameter{"nu", Bound::finite_positive}, Parameter{"location"},
                                           Parameter{"scale", Bound::positive}};
    using B = Batch<T>;

    static constexpr std::size_t known = 0;
    struct Known {
        B nu, inverse, root, power, constant, slope;

        Known(const B& n, const Wanted& wanted)
            : nu(n), inverse(B(T(1)) / n), root(B(T(1)) / xsimd::sqrt(n)), power(B(T(0.5)) * (n + B(T(1)))) {
            const B half = B(T(0.5)) * n;
            constant = lgamma_half_step<T>(half) - B(T(kernels::log_sqrt_2pi));
            slope = wanted[1] ? digamma_half_step<T>(half) : B(T(0));
        }
    };

    const Known& of_nu;
    B location, scale, log_scale;

    StudentTLaw(const Known& n, const B& m, const B& s) : of_nu(n), location(m), scale(s), log_scale(kernels::log(s)) {}

    B ratio(const B& x) const { return (x - location) / scale * of_nu.root; }

    static constexpr std::array in_constant{true, false, true};
    B constant() const { return of_nu.constant - log_scale; }
    B rest(const B& x) const { return -of_nu.power * kernels::log1p_square(ratio(x)); }
    B value(const B& x) const { return constant() + rest(x); }
    void slopes(const B& x, const Wanted& wanted, B* d) const {
        const B a = ratio(x);
        const kernels::CauchyShares<T> share(a);
        slopes_but_nu(share, d);
        if (wanted[1]) d[1] = slope_of_nu(share.even, log_beyond_first<T>(share.even, kernels::log1p_square(a)));
    }
    void slopes_but_nu(const kernels::CauchyShares<T>& share, B* d) const {
        const B one(T(1)), inverse = one / scale;
        d[2] = (of_nu.nu + one) * of_nu.root * share.odd * inverse;
        d[0] = -d[2];
        d[3] = ((of_nu.nu + one) * share.even - one) * inverse;
    }
    B slope_of_nu(const B& u, const B& beyond_first) const {
        return B(T(0.5)) * (of_nu.slope + u * of_nu.inverse - beyond_first);
    }

    // The products of all scales and of all 1 + a^2. The larger nu and the smaller a^2, the more digits of a^2 are lost
    // in 1 + a^2: the slope along nu has a relative error of nu epsilon.
    struct Logs {
        kernels::LogProduct<T> scales, squares;
        static bool exact_enough(T nu) { return nu < T(sizeof(T) == 4 ? 50 : 5000); }
    };
    void rest_without_logs(const B& x, const Wanted&, B* y, Logs& logs) const {
        const kernels::CauchyShares<T> share(ratio(x));
        logs.squares.multiply(share.whole);
        if (share.far) logs.squares.multiply(share.again);
        y[0] = B(T(0));
        slopes_but_nu(share, y + 1);
        y[2] = slope_of_nu(share.even, -share.even);
    }
    static void add_rest_logs(const Known& nu, const Logs& logs, B* sums) {
        const B log = logs.squares.log();
        sums[0] -= nu.power * log;
        sums[2] -= B(T(0.5)) * log;
    }
    void without_logs(const B& x, const Wanted& wanted, B* y, Logs& logs) const {
        rest_without_logs(x, wanted, y, logs);
        logs.scales.multiply(scale);
        y[0] = of_nu.constant;
    }
    static void add_logs(const Known& nu, const Logs& logs, B* sums) {
        add_rest_logs(nu, logs, sums);
        sums[0] -= logs.scales.log();
    }

    static double mean(double nu, double m, double) { return nu > 1 ? m : double{NAN}; }
    static double variance(double nu, double, double s) {
        return nu > 2 ? s * s * nu / (nu - 2) : nu > 1 ? double{INFINITY} : double{NAN};
    }
    // The tail beyond |z| is I_w(nu / 2, 1/2) / 2 with w = nu / (nu + z^2).
    static double cdf(double x, double nu, double m, double s) {
        const double a = (x - m) / s / std::sqrt(nu), b = 1 / a;
        if (std::isnan(a)) return a;
        const double w = std::abs(a) < 1 ? 1 / (1 + a * a) : b * b / (1 + b * b);
        const double rest = std::abs(a) < 1 ? a * a / (1 + a * a) : 1 / (1 + b * b);
        const double tail = 0.5 * kernels::beta_p(0.5 * nu, 0.5, w, rest);
        return a < 0 ? tail : 1 - tail;
    }

    using Scaled = LocationScaleDraw<T>;
    static Tensor<T> sample(const Shape& shape, const RandomKey& key, const Arg<T>& n, const Arg<T>& m,
                            const Arg<T>& s) {
        return law_each<Scaled>(name, Args<T, 3>{StudentNoise<T>(shape, n, key).e, m, s});
    }
    static Var<T> rsample(const Shape& shape, const RandomKey& key, const Arg<T>& n, const Arg<T>& m, const Arg<T>& s) {
        const Arg<T> e = n.var() ? Arg<T>(standard_draws(shape, key, n)) : StudentNoise<T>(shape, n, key).e;
        return law_terms<Scaled>("rsample", Args<T, 3>{e, m, s}, no_bounds<T, 3>);
    }
    // The draws of location 0 and scale 1.
    static Var<T> standard_draws(const Shape& shape, const RandomKey& key, const Arg<T>& n) {
        const auto draw = [shape, key](const char*, const Args<T, 1>& now, Pool&, T* e, T* slopes) {
            check_parameter<StudentTLaw, 0>(now[0]);
            const StudentNoise<T> noise(shape, *now[0].var(), key);
            std::copy_n(noise.e.data(), shape.size(), e);
            if (now[0].needs_grad()) noise.write_slope(slopes);
        };
        return record_draws(shape, std::array{n}, draw);
    }
};

}  // namespace pollen::distributions
