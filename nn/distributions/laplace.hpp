#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct LaplaceLaw;

// log p(x) = -|x - location| / scale - log(2 scale)
template <Real T>
class Laplace : public Density<T, LaplaceLaw<T>, 2, pathwise | divergence> {
  public:
    Laplace(Arg<T> location, Arg<T> scale) : Laplace::Density({std::move(location), std::move(scale)}) {}
};

template <class P, class Q>
Laplace(const P&, const Q&) -> Laplace<RealOf<P, Q>>;

}  // namespace distributions

auto laplace_lpdf(const auto& x, const auto& location, const auto& scale) {
    return distributions::lpdf<distributions::Laplace>(x, location, scale);
}

}  // namespace pollen
