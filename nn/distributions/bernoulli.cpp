#include <pollen/nn/distributions/bernoulli.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/detail/density_class.hpp>

namespace pollen::distributions {

namespace {

// log(1 + exp(x))
template <class T>
Batch<T> softplus_of(const Batch<T>& x) {
    return xsimd::max(x, Batch<T>(T(0))) + kernels::log1p_exp_minus_abs(x);
}

double probability(double logit) {
    const double e = math::exp(-std::abs(logit));
    return (logit < 0 ? e : 1) / (1 + e);
}

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

}  // namespace

// With s = -logit for x = 1 and s = logit for x = 0:
//     log p(x) = -log(1 + exp(s))        dlog p/dlogit = 1 / (1 + exp(-s)) with the sign of -s
template <Real T>
struct BernoulliLaw {
    static constexpr const char *name = "Bernoulli", *node = "bernoulli_logit_lpmf";
    static constexpr std::array parameters{Parameter{"logits", Bound::number}};
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

    static double mean(double logit) { return probability(logit); }
    static double variance(double logit) { return probability(logit) * probability(-logit); }
    static double cdf(double x, double logit) { return x >= 1 ? 1 : x >= 0 ? probability(-logit) : zero_or_nan(x); }

    // 1 where the uniform number is below the probability of 1
    static Tensor<T> sample(const Shape& shape, const RandomKey& key, const Arg<T>& logits) {
        const Tensor<double> u = uniform_noise<double>(shape, key);
        const Tensor<double> l = repeated<T>(name, logits, shape);
        Tensor<T> out = Tensor<T>::empty(shape);
        for (std::int64_t i = 0; i < shape.size(); ++i)
            out.fresh_data()[i] = u.data()[i] < probability(l.data()[i]) ? T(1) : T(0);
        return out;
    }

    using Kl = BernoulliKl<T>;
};

POLLEN_INSTANTIATE_DENSITY(Bernoulli, 1, divergence)

}  // namespace pollen::distributions
