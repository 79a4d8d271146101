#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct BernoulliLaw;

// x = 1 with probability 1 / (1 + exp(-logit)), else 0:
//     log p(x) = x logit - log(1 + exp(logit))
template <Real T>
class Bernoulli : public Density<T, BernoulliLaw<T>, 1> {
  public:
    explicit Bernoulli(Arg<T> logits) : Bernoulli::Density({std::move(logits)}) {}

    // Draws of the shape given, to which the parameters broadcast.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P>
Bernoulli(const P&) -> Bernoulli<RealOf<P>>;

// KL(p || q): the sum over all elements as a node, or the elements.
template <Real T>
Var<T> kl(const Bernoulli<T>& p, const Bernoulli<T>& q);
template <Real T>
Tensor<T> kl_each(const Bernoulli<T>& p, const Bernoulli<T>& q);

extern template class Density<float, BernoulliLaw<float>, 1>;
extern template class Density<double, BernoulliLaw<double>, 1>;
extern template class Bernoulli<float>;
extern template class Bernoulli<double>;

}  // namespace distributions

template <class X, class P>
Var<RealOf<X, P>> bernoulli_logit_lpmf(const X& x, const P& logits) {
    using A = Arg<RealOf<X, P>>;
    return distributions::Bernoulli<RealOf<X, P>>::lpdf(A::borrow(x), A::borrow(logits));
}

}  // namespace pollen
