#include <pollen/nn/distributions/laplace.hpp>

#include <pollen/nn/kernels/density_class.hpp>
#include <pollen/nn/kernels/noise.hpp>
#include <pollen/nn/kernels/special.hpp>

namespace pollen::distributions {

// With z = (x - location) / scale:
//     dlog p/dx = -dlog p/dlocation = -sign(z) / scale        dlog p/dscale = (|z| - 1) / scale
template <Real T>
struct LaplaceLaw {
    static constexpr const char* node = "laplace_lpdf";
    static void check(const Args<T, 3>& args) { check_positive("Laplace", "scale", *args[2]); }
    using B = Batch<T>;

    B location, scale, constant;

    LaplaceLaw(const B& m, const B& s) : location(m), scale(s) {}
    void for_value() { constant = B(T(-0.69314718055994530942)) - kernels::log(scale); }

    B value(const B& x) const { return constant - xsimd::abs(x - location) / scale; }
    void slopes(const B& x, const Wanted&, B* d) const {
        const B one(T(1)), distance = x - location;
        d[1] = sign<T>(distance) / scale;
        d[0] = -d[1];
        d[2] = (xsimd::abs(distance) / scale - one) / scale;
    }
};

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

template <Real T>
Tensor<T> Laplace<T>::sample(const Shape& shape, const RandomKey& key) const {
    return location_scale_sample<T>("Laplace", laplace_noise<T>(shape, key), this->parameter(0), this->parameter(1));
}

template <Real T>
Var<T> Laplace<T>::rsample(const Shape& shape, const RandomKey& key) const {
    return location_scale_rsample<T>("Laplace", laplace_noise<T>(shape, key), this->parameter(0), this->parameter(1));
}

template <Real T>
Tensor<T> Laplace<T>::mean() const {
    return map_parameters("Laplace", this->parameters_, [](double m, double) { return m; });
}

template <Real T>
Tensor<T> Laplace<T>::variance() const {
    return map_parameters("Laplace", this->parameters_, [](double, double s) { return 2 * s * s; });
}

template <Real T>
Tensor<T> Laplace<T>::cdf(const Tensor<T>& x) const {
    return map_cdf("Laplace", x, this->parameters_, [](double at, double m, double s) {
        return at < m ? 0.5 * std::exp((at - m) / s) : 1 - 0.5 * std::exp((m - at) / s);
    });
}

template <Real T>
Var<T> kl(const Laplace<T>& p, const Laplace<T>& q) {
    return law_sum<LaplaceKl<T>>("kl", Args<T, 4>{&p.parameter(0), &p.parameter(1), &q.parameter(0), &q.parameter(1)});
}

template <Real T>
Tensor<T> kl_each(const Laplace<T>& p, const Laplace<T>& q) {
    return law_each<LaplaceKl<T>>("kl", Args<T, 4>{&p.parameter(0), &p.parameter(1), &q.parameter(0), &q.parameter(1)});
}

POLLEN_INSTANTIATE_DENSITY(Laplace, 2)
POLLEN_INSTANTIATE_KL(Laplace)

}  // namespace pollen::distributions
