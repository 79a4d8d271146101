#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct HalfCauchyLaw;

// log p(x) = -log(1 + (x / scale)^2) - log scale + log(2 / pi) for x >= 0
template <Real T>
class HalfCauchy : public Density<T, HalfCauchyLaw<T>, 1, pathwise> {
  public:
    explicit HalfCauchy(Arg<T> scale) : HalfCauchy::Density({std::move(scale)}) {}
};

template <class P>
HalfCauchy(const P&) -> HalfCauchy<RealOf<P>>;

}  // namespace distributions

auto half_cauchy_lpdf(const auto& x, const auto& scale) {
    return distributions::lpdf<distributions::HalfCauchy>(x, scale);
}

}  // namespace pollen
