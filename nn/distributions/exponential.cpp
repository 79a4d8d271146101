#include <pollen/nn/distributions/exponential.hpp>

#include <pollen/nn/kernels/density_class.hpp>
#include <pollen/nn/kernels/noise.hpp>
#include <pollen/nn/kernels/special.hpp>

namespace pollen::distributions {

//     dlog p/dx = -rate        dlog p/drate = 1 / rate - x
template <Real T>
struct ExponentialLaw {
    static constexpr const char* node = "exponential_lpdf";
    static void check(const Args<T, 2>& args) { check_positive("Exponential", "rate", *args[1]); }
    using B = Batch<T>;

    B rate, log_rate;

    explicit ExponentialLaw(const B& r) : rate(r) {}
    void for_value() { log_rate = kernels::log(rate); }

    B value(const B& x) const { return outside<T>(x < B(T(0)), log_rate - rate * x); }
    void slopes(const B& x, const Wanted&, B* d) const {
        const auto off = x < B(T(0));
        d[0] = zero_where<T>(off, -rate);
        d[1] = zero_where<T>(off, B(T(1)) / rate - x);
    }
};

// x = e / rate        dx/drate = -x / rate
template <Real T>
struct ExponentialDraw {
    using B = Batch<T>;
    B rate;

    explicit ExponentialDraw(const B& r) : rate(r) {}
    B value(const B& e) const { return e / rate; }
    void slopes(const B& e, const Wanted&, B* d) const {
        d[0] = B(T(1)) / rate;
        d[1] = -e / rate / rate;
    }
};

// With r = (rate of q) / (rate of p):
//     KL = r - 1 - log r
template <Real T>
struct ExponentialKl {
    using B = Batch<T>;
    B q;

    explicit ExponentialKl(const B& rate_q) : q(rate_q) {}
    B value(const B& p) const {
        const B ratio = q / p;
        return ratio - B(T(1)) - kernels::log(ratio);
    }
    void slopes(const B& p, const Wanted&, B* d) const {
        const B one(T(1));
        d[0] = (one - q / p) / p;
        d[1] = one / p - one / q;
    }
};

template <Real T>
Tensor<T> Exponential<T>::sample(const Shape& shape, const RandomKey& key) const {
    check_sample_shape("Exponential", this->parameter(0).shape(), shape);
    const Arg<T> e(exponential_noise<T>(shape, key));
    return law_each<ExponentialDraw<T>>("Exponential", Args<T, 2>{&e, &this->parameter(0)});
}

template <Real T>
Var<T> Exponential<T>::rsample(const Shape& shape, const RandomKey& key) const {
    check_sample_shape("Exponential", this->parameter(0).shape(), shape);
    const Arg<T> e(exponential_noise<T>(shape, key));
    return law_terms<ExponentialDraw<T>>("rsample", Args<T, 2>{&e, &this->parameter(0)});
}

template <Real T>
Tensor<T> Exponential<T>::mean() const {
    return map_parameters("Exponential", this->parameters_, [](double rate) { return 1 / rate; });
}

template <Real T>
Tensor<T> Exponential<T>::variance() const {
    return map_parameters("Exponential", this->parameters_, [](double rate) { return 1 / (rate * rate); });
}

template <Real T>
Tensor<T> Exponential<T>::cdf(const Tensor<T>& x) const {
    return map_cdf("Exponential", x, this->parameters_,
                   [](double at, double rate) { return at > 0 ? -std::expm1(-rate * at) : zero_or_nan(at); });
}

template <Real T>
Var<T> kl(const Exponential<T>& p, const Exponential<T>& q) {
    return law_sum<ExponentialKl<T>>("kl", Args<T, 2>{&p.parameter(0), &q.parameter(0)});
}

template <Real T>
Tensor<T> kl_each(const Exponential<T>& p, const Exponential<T>& q) {
    return law_each<ExponentialKl<T>>("kl", Args<T, 2>{&p.parameter(0), &q.parameter(0)});
}

POLLEN_INSTANTIATE_DENSITY(Exponential, 1)
POLLEN_INSTANTIATE_KL(Exponential)

}  // namespace pollen::distributions
