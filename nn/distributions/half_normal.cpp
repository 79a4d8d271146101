#include <pollen/nn/distributions/half_normal.hpp>

#include <pollen/nn/kernels/density_class.hpp>
#include <pollen/nn/kernels/noise.hpp>
#include <pollen/nn/kernels/special.hpp>

namespace pollen::distributions {

// With z = x / sd:
//     dlog p/dx = -z / sd        dlog p/dsd = (z^2 - 1) / sd
template <Real T>
struct HalfNormalLaw {
    static constexpr const char* node = "half_normal_lpdf";
    static void check(const Args<T, 2>& args) { check_positive("HalfNormal", "sd", *args[1]); }
    using B = Batch<T>;

    B sd, constant;

    explicit HalfNormalLaw(const B& s) : sd(s) {}
    void for_value() { constant = B(T(-0.22579135264472743236)) - kernels::log(sd); }

    B value(const B& x) const {
        const B z = x / sd;
        return outside<T>(x < B(T(0)), constant - B(T(0.5)) * z * z);
    }
    void slopes(const B& x, const Wanted&, B* d) const {
        const B z = x / sd;
        const auto off = x < B(T(0));
        d[0] = zero_where<T>(off, -z / sd);
        d[1] = zero_where<T>(off, (z * z - B(T(1))) / sd);
    }
};

template <Real T>
Tensor<T> HalfNormal<T>::sample(const Shape& shape, const RandomKey& key) const {
    return location_scale_sample<T>("HalfNormal", half_normal_noise<T>(shape, key), Arg<T>(0), this->parameter(0));
}

template <Real T>
Var<T> HalfNormal<T>::rsample(const Shape& shape, const RandomKey& key) const {
    return location_scale_rsample<T>("HalfNormal", half_normal_noise<T>(shape, key), Arg<T>(0), this->parameter(0));
}

template <Real T>
Tensor<T> HalfNormal<T>::mean() const {
    return map_parameters("HalfNormal", this->parameters_, [](double sd) { return sd * 0.79788456080286535588; });
}

template <Real T>
Tensor<T> HalfNormal<T>::variance() const {
    return map_parameters("HalfNormal", this->parameters_, [](double sd) { return sd * sd * 0.36338022763241865692; });
}

template <Real T>
Tensor<T> HalfNormal<T>::cdf(const Tensor<T>& x) const {
    return map_cdf("HalfNormal", x, this->parameters_, [](double at, double sd) {
        return at > 0 ? std::erf(0.70710678118654752440 * at / sd) : zero_or_nan(at);
    });
}

POLLEN_INSTANTIATE_DENSITY(HalfNormal, 1)

}  // namespace pollen::distributions
