#pragma once

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/density_class.hpp>
#include <pollen/nn/distributions/laplace.hpp>

namespace pollen::distributions {

// With s and t the scales, d the distance of the locations and e = exp(-|d| / s):
//     KL = log(t / s) + (s e + |d|) / t - 1
template <Real T>
struct LaplaceKl {
    using B = Batch<T>;
    B s, n, t;

    LaplaceKl(const B& s_p, const B& location_q, const B& s_q) : s(s_p), n(location_q), t(s_q) {}

    B value(const B& m) const {
        const B d = xsimd::abs(m - n), e = kernels::exp<T>(-d / s);
        return (s * e + d) / t - B(T(1)) - kernels::log<T>(s / t);
    }
    void slopes(const B& m, const Wanted&, B* d) const {
        const B one(T(1)), far = xsimd::abs(m - n), e = kernels::exp<T>(-far / s);
        d[0] = -sign<T>(m - n) * kernels::expm1<T>(-far / s) / t;
        d[1] = e * (one + far / s) / t - one / s;
        d[2] = -d[0];
        d[3] = (one - (s * e + far) / t) / t;
    }
};

// With z = (x - location) / scale:
//     dlog p/dx = -dlog p/dlocation = -sign(z) / scale        dlog p/dscale = (|z| - 1) / scale
template <Real T>
struct LaplaceLaw {
    static constexpr const char *name = "Laplace", *node = "laplace_lpdf";
    static constexpr std::array parameters{Parameter{"location"}, Parameter{"scale", Bound::positive}};
    using B = Batch<T>;

    B location, scale;

    LaplaceLaw(const B& m, const B& s) : location(m), scale(s), constant_(-B(T(kernels::log_2)) - kernels::log(s)) {}

    static constexpr std::array in_constant{false, true};
    B constant() const { return constant_; }
    B rest(const B& x) const { return -xsimd::abs(x - location) / scale; }
    B value(const B& x) const { return constant() + rest(x); }
    void slopes(const B& x, const Wanted&, B* d) const {
        const B one(T(1)), distance = x - location;
        d[1] = sign<T>(distance) / scale;
        d[0] = -d[1];
        d[2] = (xsimd::abs(distance) / scale - one) / scale;
    }

    static double mean(double m, double) { return m; }
    static double variance(double, double s) { return 2 * s * s; }
    static double cdf(double x, double m, double s) {
        return x < m ? 0.5 * math::exp((x - m) / s) : 1 - 0.5 * math::exp((m - x) / s);
    }

    using Draw = LocationScaleDraw<T>;
    static constexpr auto noise = laplace_noise<T>;
    using Kl = LaplaceKl<T>;

  private:
    B constant_;
};

}  // namespace pollen::distributions
