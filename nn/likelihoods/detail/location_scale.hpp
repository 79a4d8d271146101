#pragma once

#include <pollen/nn/likelihoods/detail/pointwise.hpp>

#include <cmath>

// Laws of y = x + s z, z of a symmetric density exp(g(z)): with z = (x - y) / s,
//
//     L = sum g(z) - log s        dL/dx = g'(z) / s        dL/dlog s = sum -z g'(z) - 1
//
// A law gives g without its constant term as density(z), the constant term as constant(), and g'(z) as slope(z) and
// z g'(z) as z_slope(z).
namespace pollen {

template <class Law>
struct ScaledDensity {
    Law law;
    template <class V>
    V operator()(const V& x, const V& y, const V& inverse) const {
        return law.density(V((x - y) * inverse));
    }
};
template <class Law>
struct ScaledSlope {
    Law law;
    template <class V>
    V operator()(const V& x, const V& y, const V& inverse) const {
        return law.slope(V((x - y) * inverse)) * inverse;
    }
};
template <class Law>
struct ScaledZSlope {
    Law law;
    template <class V>
    V operator()(const V& x, const V& y, const V& inverse) const {
        return law.z_slope(V((x - y) * inverse));
    }
};

// With s known.
template <Real T, class Law>
Var<T> location_scale(const char* name, Var<T> outputs, const T* targets, double scale, const Law& law) {
    const Stream<T> x{outputs.value().data()}, y{targets};
    const Splat<T> inverse{static_cast<T>(1 / scale)};
    const double constant = law.constant() - std::log(scale);
    const double sum = sum_with_constant<T>(outputs.size(), constant, ScaledDensity<Law>{law}, x, y, inverse);
    return record_sum(name, outputs, sum, slopes(outputs, ScaledSlope<Law>{law}, x, y, inverse));
}

// With log s a Var of one number.
template <Real T, class Law>
Var<T> location_scale(const char* name, Var<T> outputs, const T* targets, Var<T> log_scale, const Law& law) {
    const Stream<T> x{outputs.value().data()}, y{targets};
    const double log_s = static_cast<double>(log_scale.item());
    const Splat<T> inverse{static_cast<T>(std::exp(-log_s))};
    const std::int64_t n = outputs.size();
    const double sum = sum_with_constant<T>(n, law.constant() - log_s, ScaledDensity<Law>{law}, x, y, inverse);
    T log_s_slope = 0;
    if (log_scale.needs_grad())
        log_s_slope = static_cast<T>(-sum_with_constant<T>(n, 1, ScaledZSlope<Law>{law}, x, y, inverse));
    return record_sum(name, outputs, log_scale, sum, slopes(outputs, ScaledSlope<Law>{law}, x, y, inverse),
                      log_s_slope);
}

}  // namespace pollen
