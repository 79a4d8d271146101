#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct NormalLaw;

// log p(x) = -(x - mean)^2 / (2 sd^2) - log sd - log(2 pi) / 2
template <Real T>
class Normal : public Density<T, NormalLaw<T>, 2, pathwise | divergence> {
  public:
    Normal(Arg<T> mean, Arg<T> sd) : Normal::Density({std::move(mean), std::move(sd)}) {}
};

template <class P, class Q>
Normal(const P&, const Q&) -> Normal<RealOf<P, Q>>;

}  // namespace distributions

// As in Stan: the log density of all of x at once.
auto normal_lpdf(const auto& x, const auto& mean, const auto& sd) {
    return distributions::lpdf<distributions::Normal>(x, mean, sd);
}

}  // namespace pollen
