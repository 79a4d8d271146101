#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct HalfNormalLaw;

// log p(x) = -x^2 / (2 sd^2) - log sd + log(2 / pi) / 2 for x >= 0: |z| of z ~ Normal(0, sd)
template <Real T>
class HalfNormal : public Density<T, HalfNormalLaw<T>, 1, pathwise> {
  public:
    explicit HalfNormal(Arg<T> sd) : HalfNormal::Density({std::move(sd)}) {}
};

template <class P>
HalfNormal(const P&) -> HalfNormal<RealOf<P>>;

}  // namespace distributions

auto half_normal_lpdf(const auto& x, const auto& sd) { return distributions::lpdf<distributions::HalfNormal>(x, sd); }

}  // namespace pollen
