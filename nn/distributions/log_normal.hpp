#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct LogNormalLaw;

// log p(x) = -(log x - mu)^2 / (2 sd^2) - log x - log sd - log(2 pi) / 2 for x > 0: exp(z) of z ~ Normal(mu, sd)
template <Real T>
class LogNormal : public Density<T, LogNormalLaw<T>, 2, pathwise | divergence> {
  public:
    LogNormal(Arg<T> mu, Arg<T> sd) : LogNormal::Density({std::move(mu), std::move(sd)}) {}
};

template <class P, class Q>
LogNormal(const P&, const Q&) -> LogNormal<RealOf<P, Q>>;

}  // namespace distributions

auto log_normal_lpdf(const auto& x, const auto& mu, const auto& sd) {
    return distributions::lpdf<distributions::LogNormal>(x, mu, sd);
}

}  // namespace pollen
