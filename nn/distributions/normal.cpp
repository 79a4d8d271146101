#include <pollen/nn/distributions/normal.hpp>

#include <pollen/autograd/kernels/log.hpp>
#include <pollen/nn/kernels/density_class.hpp>
#include <pollen/nn/kernels/noise.hpp>

namespace pollen::distributions {

// With z = (x - mean) / sd:
//     dlog p/dx = -z / sd        dlog p/dmean = z / sd        dlog p/dsd = (z^2 - 1) / sd
template <Real T>
struct NormalLaw {
    static constexpr const char* node = "normal_lpdf";
    using B = Batch<T>;

    static void check(const Args<T, 3>& args) { check_positive("Normal", "sd", *args[2]); }

    B mean, sd, constant;

    NormalLaw(const B& m, const B& s) : mean(m), sd(s) {}
    void for_value() { constant = B(T(-0.91893853320467274178)) - kernels::log(sd); }

    B value(const B& x) const {
        const B z = (x - mean) / sd;
        return constant - B(T(0.5)) * z * z;
    }
    void slopes(const B& x, const Wanted&, B* d) const {
        const B inverse = B(T(1)) / sd, z = (x - mean) / sd;
        d[1] = z * inverse;
        d[0] = -d[1];
        d[2] = (z * z - B(T(1))) * inverse;
    }
};

// With r = s / t the ratio of the standard deviations, and z the distance of the means over t:
//     KL = (r^2 - 1 + z^2) / 2 - log r
template <Real T>
struct NormalKl {
    using B = Batch<T>;
    B s, n, t;

    NormalKl(const B& s_p, const B& mean_q, const B& s_q) : s(s_p), n(mean_q), t(s_q) {}

    B value(const B& m) const {
        const B one(T(1)), r = s / t, z = (m - n) / t;
        return B(T(0.5)) * ((r - one) * (r + one) + z * z) - kernels::log(r);
    }
    void slopes(const B& m, const Wanted&, B* d) const {
        const B one(T(1)), r = s / t, z = (m - n) / t;
        d[0] = z / t;
        d[1] = (r - one / r) / t;
        d[2] = -d[0];
        d[3] = (one - r * r - z * z) / t;
    }
};

template <Real T>
Tensor<T> Normal<T>::sample(const Shape& shape, const RandomKey& key) const {
    return location_scale_sample<T>("Normal", normal_noise<T>(shape, key), this->parameter(0), this->parameter(1));
}

template <Real T>
Var<T> Normal<T>::rsample(const Shape& shape, const RandomKey& key) const {
    return location_scale_rsample<T>("Normal", normal_noise<T>(shape, key), this->parameter(0), this->parameter(1));
}

template <Real T>
Tensor<T> Normal<T>::mean() const {
    return map_parameters("Normal", this->parameters_, [](double m, double) { return m; });
}

template <Real T>
Tensor<T> Normal<T>::variance() const {
    return map_parameters("Normal", this->parameters_, [](double, double s) { return s * s; });
}

template <Real T>
Tensor<T> Normal<T>::cdf(const Tensor<T>& x) const {
    return map_cdf("Normal", x, this->parameters_,
                   [](double at, double m, double s) { return normal_cdf((at - m) / s); });
}

template <Real T>
Var<T> kl(const Normal<T>& p, const Normal<T>& q) {
    return law_sum<NormalKl<T>>("kl", Args<T, 4>{&p.parameter(0), &p.parameter(1), &q.parameter(0), &q.parameter(1)});
}

template <Real T>
Tensor<T> kl_each(const Normal<T>& p, const Normal<T>& q) {
    return law_each<NormalKl<T>>("kl", Args<T, 4>{&p.parameter(0), &p.parameter(1), &q.parameter(0), &q.parameter(1)});
}

POLLEN_INSTANTIATE_DENSITY(Normal, 2)
POLLEN_INSTANTIATE_KL(Normal)

}  // namespace pollen::distributions
