#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct ExponentialLaw;

// log p(x) = log rate - rate x for x >= 0; the mean is 1 / rate
template <Real T>
class Exponential : public Density<T, ExponentialLaw<T>, 1, pathwise | divergence> {
  public:
    explicit Exponential(Arg<T> rate) : Exponential::Density({std::move(rate)}) {}
};

template <class P>
Exponential(const P&) -> Exponential<RealOf<P>>;

}  // namespace distributions

auto exponential_lpdf(const auto& x, const auto& rate) {
    return distributions::lpdf<distributions::Exponential>(x, rate);
}

}  // namespace pollen
