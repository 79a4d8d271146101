#include <pollen/nn/distributions/cauchy.hpp>

#include <pollen/nn/kernels/density_class.hpp>
#include <pollen/nn/kernels/noise.hpp>
#include <pollen/nn/kernels/special.hpp>

#include <numbers>

namespace pollen::distributions {

// With a = (x - location) / scale:
//     dlog p/dx = -dlog p/dlocation = -2 a / (1 + a^2) / scale        dlog p/dscale = (2 a^2 / (1 + a^2) - 1) / scale
template <Real T>
struct CauchyLaw {
    static constexpr const char* node = "cauchy_lpdf";
    static void check(const Args<T, 3>& args) { check_positive("Cauchy", "scale", *args[2]); }
    using B = Batch<T>;

    B location, scale, constant;

    CauchyLaw(const B& m, const B& s) : location(m), scale(s) {}
    void for_value() { constant = B(T(-1.14472988584940017414)) - kernels::log(scale); }

    B value(const B& x) const { return constant - kernels::log1p_square<T>((x - location) / scale); }
    void slopes(const B& x, const Wanted&, B* d) const {
        const B one(T(1)), a = (x - location) / scale, share = kernels::square_share(a);
        d[1] = B(T(2)) / (a + one / a) / scale;
        d[0] = -d[1];
        d[2] = (share + share - one) / scale;
    }
};

template <Real T>
Tensor<T> Cauchy<T>::sample(const Shape& shape, const RandomKey& key) const {
    return location_scale_sample<T>("Cauchy", cauchy_noise<T>(shape, key), this->parameter(0), this->parameter(1));
}

template <Real T>
Var<T> Cauchy<T>::rsample(const Shape& shape, const RandomKey& key) const {
    return location_scale_rsample<T>("Cauchy", cauchy_noise<T>(shape, key), this->parameter(0), this->parameter(1));
}

template <Real T>
Tensor<T> Cauchy<T>::mean() const {
    return map_parameters("Cauchy", this->parameters_, [](double, double) { return NAN; });
}

template <Real T>
Tensor<T> Cauchy<T>::variance() const {
    return map_parameters("Cauchy", this->parameters_, [](double, double) { return NAN; });
}

template <Real T>
Tensor<T> Cauchy<T>::cdf(const Tensor<T>& x) const {
    return map_cdf("Cauchy", x, this->parameters_,
                   [](double at, double m, double s) { return std::numbers::inv_pi * std::atan2(1, (m - at) / s); });
}

POLLEN_INSTANTIATE_DENSITY(Cauchy, 2)

}  // namespace pollen::distributions
