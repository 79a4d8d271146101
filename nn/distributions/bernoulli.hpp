#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct BernoulliLaw;

// x = 1 with probability 1 / (1 + exp(-logit)), else 0:
//     log p(x) = x logit - log(1 + exp(logit))
template <Real T>
class Bernoulli : public Density<T, BernoulliLaw<T>, 1, divergence> {
  public:
    explicit Bernoulli(Arg<T> logits) : Bernoulli::Density({std::move(logits)}) {}
};

template <class P>
Bernoulli(const P&) -> Bernoulli<RealOf<P>>;

}  // namespace distributions

auto bernoulli_logit_lpmf(const auto& x, const auto& logits) {
    return distributions::lpdf<distributions::Bernoulli>(x, logits);
}

}  // namespace pollen
