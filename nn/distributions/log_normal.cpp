#include <pollen/nn/distributions/log_normal.hpp>

#include <pollen/nn/distributions/normal.hpp>
#include <pollen/nn/kernels/density_class.hpp>
#include <pollen/nn/kernels/noise.hpp>
#include <pollen/nn/kernels/special.hpp>

namespace pollen::distributions {

// With z = (log x - mu) / sd:
//     dlog p/dx = -(z / sd + 1) / x        dlog p/dmu = z / sd        dlog p/dsd = (z^2 - 1) / sd
template <Real T>
struct LogNormalLaw {
    static constexpr const char* node = "log_normal_lpdf";
    static void check(const Args<T, 3>& args) { check_positive("LogNormal", "sd", *args[2]); }
    using B = Batch<T>;

    B mu, sd, constant;

    LogNormalLaw(const B& m, const B& s) : mu(m), sd(s) {}
    void for_value() { constant = B(T(-0.91893853320467274178)) - kernels::log(sd); }

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
};

template <Real T>
Tensor<T> LogNormal<T>::sample(const Shape& shape, const RandomKey& key) const {
    Tensor<T> x = Normal<T>(this->parameter(0), this->parameter(1)).sample(shape, key);
    kernels::map(
        x.size(), x.fresh_data(), [](const Batch<T>& v) { return kernels::exp(v); }, kernels::Stream<T>{x.data()});
    return x;
}

template <Real T>
Var<T> LogNormal<T>::rsample(const Shape& shape, const RandomKey& key) const {
    return exp(Normal<T>(this->parameter(0), this->parameter(1)).rsample(shape, key));
}

template <Real T>
Tensor<T> LogNormal<T>::mean() const {
    return map_parameters("LogNormal", this->parameters_, [](double m, double s) { return std::exp(m + 0.5 * s * s); });
}

template <Real T>
Tensor<T> LogNormal<T>::variance() const {
    return map_parameters("LogNormal", this->parameters_,
                          [](double m, double s) { return std::expm1(s * s) * std::exp(2 * m + s * s); });
}

template <Real T>
Tensor<T> LogNormal<T>::cdf(const Tensor<T>& x) const {
    return map_cdf("LogNormal", x, this->parameters_, [](double at, double m, double s) {
        return at > 0 ? normal_cdf((std::log(at) - m) / s) : zero_or_nan(at);
    });
}

// The logarithm loses nothing, so this is the divergence of the normal distributions behind.
template <Real T>
Var<T> kl(const LogNormal<T>& p, const LogNormal<T>& q) {
    return kl(Normal<T>(p.parameter(0), p.parameter(1)), Normal<T>(q.parameter(0), q.parameter(1)));
}

template <Real T>
Tensor<T> kl_each(const LogNormal<T>& p, const LogNormal<T>& q) {
    return kl_each(Normal<T>(p.parameter(0), p.parameter(1)), Normal<T>(q.parameter(0), q.parameter(1)));
}

POLLEN_INSTANTIATE_DENSITY(LogNormal, 2)
POLLEN_INSTANTIATE_KL(LogNormal)

}  // namespace pollen::distributions
