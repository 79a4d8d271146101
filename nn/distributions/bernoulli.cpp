#include <pollen/nn/distributions/bernoulli.hpp>

#include <pollen/nn/kernels/density_class.hpp>
#include <pollen/nn/kernels/noise.hpp>
#include <pollen/nn/kernels/special.hpp>

namespace pollen::distributions {

namespace {

// log(1 + exp(x))
template <class T>
Batch<T> softplus_of(const Batch<T>& x) {
    return xsimd::max(x, Batch<T>(T(0))) + kernels::log1p_exp_minus_abs(x);
}

double probability(double logit) {
    const double e = std::exp(-std::abs(logit));
    return (logit < 0 ? e : 1) / (1 + e);
}

}  // namespace

// With s = -logit for x = 1 and s = logit for x = 0:
//     log p(x) = -log(1 + exp(s))        dlog p/dlogit = 1 / (1 + exp(-s)) with the sign of -s
template <Real T>
struct BernoulliLaw {
    static constexpr const char* node = "bernoulli_logit_lpmf";
    static void check(const Args<T, 2>& args) {
        const T* l = args[1]->data();
        for (std::int64_t i = 0; i < args[1]->size(); ++i)
            if (std::isnan(l[i])) refuse("Bernoulli", "logits", l[i], i, args[1]->size(), "a number");
    }
    using B = Batch<T>;

    B logit;

    explicit BernoulliLaw(const B& l) : logit(l) {}

    static auto off(const B& x) { return !(x == B(T(0)) || x == B(T(1)) || xsimd::isnan(x)); }
    B value(const B& x) const {
        const B s = xsimd::select(x == B(T(1)), -logit, logit);
        return outside<T>(off(x), xsimd::select(xsimd::isnan(x), x, -softplus_of(s)));
    }
    void slopes(const B& x, const Wanted&, B* d) const {
        const auto one = x == B(T(1));
        const B q = kernels::sigmoid<T>(xsimd::select(one, -logit, logit));
        d[0] = B(T(0));
        d[1] = zero_where<T>(off(x), xsimd::select(one, q, -q));
    }
};

// With l and m the logits of p and q:
//     KL = p (l - m) - log(1 + exp(l)) + log(1 + exp(m))        dKL/dl = p (1 - p) (l - m)        dKL/dm = q - p
template <Real T>
struct BernoulliKl {
    using B = Batch<T>;
    B m;

    explicit BernoulliKl(const B& logit_q) : m(logit_q) {}
    B value(const B& l) const { return kernels::sigmoid(l) * (l - m) - softplus_of(l) + softplus_of(m); }
    void slopes(const B& l, const Wanted&, B* d) const {
        d[0] = kernels::sigmoid(l) * kernels::sigmoid<T>(-l) * (l - m);
        d[1] = kernels::sigmoid(m) - kernels::sigmoid(l);
    }
};

// 1 where the uniform number is below the probability of 1
template <Real T>
Tensor<T> Bernoulli<T>::sample(const Shape& shape, const RandomKey& key) const {
    const Tensor<double> logits = repeated<T>("Bernoulli", this->parameter(0), shape);
    const Tensor<double> u = noise_of_uniforms<double>(shape, key, [](const Batch<double>& v) { return v; });
    Tensor<T> out = Tensor<T>::empty(shape);
    for (std::int64_t i = 0; i < shape.size(); ++i)
        out.fresh_data()[i] = u.data()[i] < probability(logits.data()[i]) ? T(1) : T(0);
    return out;
}

template <Real T>
Tensor<T> Bernoulli<T>::mean() const {
    return map_parameters("Bernoulli", this->parameters_, probability);
}

template <Real T>
Tensor<T> Bernoulli<T>::variance() const {
    return map_parameters("Bernoulli", this->parameters_,
                          [](double logit) { return probability(logit) * probability(-logit); });
}

template <Real T>
Tensor<T> Bernoulli<T>::cdf(const Tensor<T>& x) const {
    return map_cdf("Bernoulli", x, this->parameters_, [](double at, double logit) {
        return at >= 1 ? 1 : at >= 0 ? probability(-logit) : zero_or_nan(at);
    });
}

template <Real T>
Var<T> kl(const Bernoulli<T>& p, const Bernoulli<T>& q) {
    return law_sum<BernoulliKl<T>>("kl", Args<T, 2>{&p.parameter(0), &q.parameter(0)});
}

template <Real T>
Tensor<T> kl_each(const Bernoulli<T>& p, const Bernoulli<T>& q) {
    return law_each<BernoulliKl<T>>("kl", Args<T, 2>{&p.parameter(0), &q.parameter(0)});
}

POLLEN_INSTANTIATE_DENSITY(Bernoulli, 1)
POLLEN_INSTANTIATE_KL(Bernoulli)

}  // namespace pollen::distributions
