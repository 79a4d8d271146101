#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct BetaLaw;

// log p(x) = (a - 1) log x + (b - 1) log(1 - x) - log B(a, b) for 0 <= x <= 1; the mean is a / (a + b)
//
// Draws are g / (g + h) of g ~ Gamma(a, 1), h ~ Gamma(b, 1), and rsample goes through their gradients.
template <Real T>
class Beta : public Density<T, BetaLaw<T>, 2, pathwise | divergence> {
  public:
    Beta(Arg<T> a, Arg<T> b) : Beta::Density({std::move(a), std::move(b)}) {}
};

template <class P, class Q>
Beta(const P&, const Q&) -> Beta<RealOf<P, Q>>;

}  // namespace distributions

auto beta_lpdf(const auto& x, const auto& a, const auto& b) {
    return distributions::lpdf<distributions::Beta>(x, a, b);
}

}  // namespace pollen
