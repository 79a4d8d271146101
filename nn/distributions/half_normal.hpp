#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct HalfNormalLaw;

// log p(x) = -x^2 / (2 sd^2) - log sd + log(2 / pi) / 2 for x >= 0: |z| of z ~ Normal(0, sd)
template <Real T>
class HalfNormal : public Density<T, HalfNormalLaw<T>, 1> {
  public:
    explicit HalfNormal(Arg<T> sd) : HalfNormal::Density({std::move(sd)}) {}

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P>
HalfNormal(const P&) -> HalfNormal<RealOf<P>>;

extern template class Density<float, HalfNormalLaw<float>, 1>;
extern template class Density<double, HalfNormalLaw<double>, 1>;
extern template class HalfNormal<float>;
extern template class HalfNormal<double>;

}  // namespace distributions

template <class X, class P>
Var<RealOf<X, P>> half_normal_lpdf(const X& x, const P& sd) {
    using A = Arg<RealOf<X, P>>;
    return distributions::HalfNormal<RealOf<X, P>>::lpdf(A::borrow(x), A::borrow(sd));
}

}  // namespace pollen
