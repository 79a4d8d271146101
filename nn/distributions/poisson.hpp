#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct PoissonLaw;

// log p(x) = x log rate - rate - log x! for x = 0, 1, 2, ...
template <Real T>
class Poisson : public Density<T, PoissonLaw<T>, 1, divergence> {
  public:
    explicit Poisson(Arg<T> rate) : Poisson::Density({std::move(rate)}) {}
};

template <class P>
Poisson(const P&) -> Poisson<RealOf<P>>;

}  // namespace distributions

auto poisson_lpmf(const auto& x, const auto& rate) { return distributions::lpdf<distributions::Poisson>(x, rate); }

}  // namespace pollen
