#pragma once

#include <pollen/nn/distributions/detail/density_class.hpp>
#include <pollen/nn/distributions/kernels/normal_kl.hpp>
#include <pollen/nn/distributions/normal.hpp>

namespace pollen::distributions {

// With z = (x - mean) / sd:
//     dlog p/dx = -z / sd        dlog p/dmean = z / sd        dlog p/dsd = (z^2 - 1) / sd
template <Real T>
struct NormalLaw {
    static constexpr const char *name = "Normal", *node = "normal_lpdf";
    static constexpr std::array parameters{Parameter{"mean"}, Parameter{"sd", Bound::positive}};
    using B = Batch<T>;

    static constexpr std::size_t known = 1;
    struct Known {
        B sd, inverse, constant;

        Known(const B& s, const Wanted&)
            : sd(s), inverse(B(T(1)) / s), constant(-B(T(kernels::log_sqrt_2pi)) - kernels::log(s)) {}
    };

    B m;
    Known s;

    NormalLaw(const B& mean_, const Known& sd) : m(mean_), s(sd) {}

    static constexpr std::array in_constant{false, true};
    B constant() const { return s.constant; }
    B rest(const B& x) const {
        const B z = (x - m) / s.sd;
        return B(T(-0.5)) * z * z;
    }
    B value(const B& x) const { return constant() + rest(x); }
    void slopes(const B& x, const Wanted&, B* d) const {
        const B z = (x - m) / s.sd;
        d[1] = z * s.inverse;
        d[0] = -d[1];
        d[2] = (z * z - B(T(1))) * s.inverse;
    }

    static double mean(double m, double) { return m; }
    static double variance(double, double s) { return s * s; }
    static double cdf(double x, double m, double s) { return normal_cdf((x - m) / s); }

    using Draw = LocationScaleDraw<T>;
    static constexpr auto noise = normal_noise<T>;
    using Kl = NormalKl<T>;
};

}  // namespace pollen::distributions
