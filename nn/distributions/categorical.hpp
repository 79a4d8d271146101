#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/nn/distributions/argument.hpp>

namespace pollen {

namespace distributions {

// Classes 0, 1, ..., K - 1. The logits are (..., K):
//     log p(x) = logits[x] - log sum_k exp(logits[k])
// Their shape without the last axis must broadcast to that of x. A class that does not exist has log_prob -infinity.
template <Real T>
class Categorical {
  public:
    explicit Categorical(Arg<T> logits);

    // The sum over all of x, as one node; and the elements.
    Var<T> log_prob(const Indices& x) const;
    Tensor<T> log_prob_each(const Indices& x) const;

    Indices sample(const Shape& shape, const RandomKey& key) const;
    Tensor<T> probabilities() const;

    const Arg<T>& logits() const { return logits_; }

  private:
    Arg<T> logits_;
};

template <class P>
Categorical(const P&) -> Categorical<RealOf<P>>;

// KL(p || q): the sum over all elements as a node, or the elements. The logits of both have the same shape.
template <Real T>
Var<T> kl(const Categorical<T>& p, const Categorical<T>& q);
template <Real T>
Tensor<T> kl_each(const Categorical<T>& p, const Categorical<T>& q);

}  // namespace distributions

template <class P>
Var<RealOf<P>> categorical_logit_lpmf(const Indices& x, const P& logits) {
    return distributions::Categorical<RealOf<P>>(Arg<RealOf<P>>::borrow(logits)).log_prob(x);
}

}  // namespace pollen
