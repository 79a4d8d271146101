#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct GammaLaw;

// log p(x) = (shape - 1) log x - rate x + shape log rate - log Gamma(shape) for x >= 0; the mean is shape / rate
//
// rsample is implicit (Figurnov, Mohamed and Mnih, Implicit reparameterization gradients, 2018):
//     dx/dshape = -(dF/dshape) / p(x)
template <Real T>
class Gamma : public Density<T, GammaLaw<T>, 2, pathwise | divergence> {
  public:
    Gamma(Arg<T> shape, Arg<T> rate) : Gamma::Density({std::move(shape), std::move(rate)}) {}
};

template <class P, class Q>
Gamma(const P&, const Q&) -> Gamma<RealOf<P, Q>>;

}  // namespace distributions

auto gamma_lpdf(const auto& x, const auto& shape, const auto& rate) {
    return distributions::lpdf<distributions::Gamma>(x, shape, rate);
}

}  // namespace pollen
