#include <pollen/nn/distributions/half_cauchy.hpp>

#include <pollen/nn/kernels/density_class.hpp>
#include <pollen/nn/kernels/noise.hpp>
#include <pollen/nn/kernels/special.hpp>

#include <numbers>

namespace pollen::distributions {

// With a = x / scale:
//     dlog p/dx = -2 a / (1 + a^2) / scale        dlog p/dscale = (2 a^2 / (1 + a^2) - 1) / scale
template <Real T>
struct HalfCauchyLaw {
    static constexpr const char* node = "half_cauchy_lpdf";
    static void check(const Args<T, 2>& args) { check_positive("HalfCauchy", "scale", *args[1]); }
    using B = Batch<T>;

    B scale, constant;

    explicit HalfCauchyLaw(const B& s) : scale(s) {}
    void for_value() { constant = B(T(-0.45158270528945486473)) - kernels::log(scale); }

    B value(const B& x) const { return outside<T>(x < B(T(0)), constant - kernels::log1p_square<T>(x / scale)); }
    void slopes(const B& x, const Wanted&, B* d) const {
        const B one(T(1)), a = x / scale, share = kernels::square_share(a);
        const auto off = x < B(T(0));
        d[0] = zero_where<T>(off, B(T(-2)) / (a + one / a) / scale);
        d[1] = zero_where<T>(off, (share + share - one) / scale);
    }
};

template <Real T>
Tensor<T> HalfCauchy<T>::sample(const Shape& shape, const RandomKey& key) const {
    return location_scale_sample<T>("HalfCauchy", half_cauchy_noise<T>(shape, key), Arg<T>(0), this->parameter(0));
}

template <Real T>
Var<T> HalfCauchy<T>::rsample(const Shape& shape, const RandomKey& key) const {
    return location_scale_rsample<T>("HalfCauchy", half_cauchy_noise<T>(shape, key), Arg<T>(0), this->parameter(0));
}

template <Real T>
Tensor<T> HalfCauchy<T>::mean() const {
    return map_parameters("HalfCauchy", this->parameters_, [](double) { return INFINITY; });
}

template <Real T>
Tensor<T> HalfCauchy<T>::variance() const {
    return map_parameters("HalfCauchy", this->parameters_, [](double) { return INFINITY; });
}

template <Real T>
Tensor<T> HalfCauchy<T>::cdf(const Tensor<T>& x) const {
    return map_cdf("HalfCauchy", x, this->parameters_, [](double at, double scale) {
        return at > 0 ? 2 * std::numbers::inv_pi * std::atan(at / scale) : zero_or_nan(at);
    });
}

POLLEN_INSTANTIATE_DENSITY(HalfCauchy, 1)

}  // namespace pollen::distributions
