#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct UniformLaw;

// log p(x) = -log(high - low) for low <= x <= high
template <Real T>
class Uniform : public Density<T, UniformLaw<T>, 2, pathwise> {
  public:
    Uniform(Arg<T> low, Arg<T> high) : Uniform::Density({std::move(low), std::move(high)}) {}
};

template <class P, class Q>
Uniform(const P&, const Q&) -> Uniform<RealOf<P, Q>>;

}  // namespace distributions

auto uniform_lpdf(const auto& x, const auto& low, const auto& high) {
    return distributions::lpdf<distributions::Uniform>(x, low, high);
}

}  // namespace pollen
