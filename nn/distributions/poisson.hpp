#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct PoissonLaw;
template <Real T>
struct PoissonLogLaw;

// log p(x) = x log rate - rate - log x! for x = 0, 1, 2, ...
template <Real T>
class Poisson : public Density<T, PoissonLaw<T>, 1, divergence> {
  public:
    explicit Poisson(Arg<T> rate) : Poisson::Density({std::move(rate)}) {}
};

template <class P>
Poisson(const P&) -> Poisson<RealOf<P>>;

// The same by the logarithm of the rate, which may be any number.
template <Real T>
class PoissonLog : public Density<T, PoissonLogLaw<T>, 1, 0> {
  public:
    explicit PoissonLog(Arg<T> log_rate) : PoissonLog::Density({std::move(log_rate)}) {}
};

template <class P>
PoissonLog(const P&) -> PoissonLog<RealOf<P>>;

}  // namespace distributions

auto poisson_lpmf(const auto& x, const auto& rate) { return distributions::lpdf<distributions::Poisson>(x, rate); }
auto poisson_log_lpmf(const auto& x, const auto& log_rate) {
    return distributions::lpdf<distributions::PoissonLog>(x, log_rate);
}

}  // namespace pollen
