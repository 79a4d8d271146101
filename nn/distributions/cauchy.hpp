#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct CauchyLaw;

// log p(x) = -log(1 + ((x - location) / scale)^2) - log scale - log pi
template <Real T>
class Cauchy : public Density<T, CauchyLaw<T>, 2, pathwise> {
  public:
    Cauchy(Arg<T> location, Arg<T> scale) : Cauchy::Density({std::move(location), std::move(scale)}) {}
};

template <class P, class Q>
Cauchy(const P&, const Q&) -> Cauchy<RealOf<P, Q>>;

}  // namespace distributions

auto cauchy_lpdf(const auto& x, const auto& location, const auto& scale) {
    return distributions::lpdf<distributions::Cauchy>(x, location, scale);
}

}  // namespace pollen
