#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct HalfCauchyLaw;

// log p(x) = -log(1 + (x / scale)^2) - log scale + log(2 / pi) for x >= 0
template <Real T>
class HalfCauchy : public Density<T, HalfCauchyLaw<T>, 1> {
  public:
    explicit HalfCauchy(Arg<T> scale) : HalfCauchy::Density({std::move(scale)}) {}

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P>
HalfCauchy(const P&) -> HalfCauchy<RealOf<P>>;

extern template class Density<float, HalfCauchyLaw<float>, 1>;
extern template class Density<double, HalfCauchyLaw<double>, 1>;
extern template class HalfCauchy<float>;
extern template class HalfCauchy<double>;

}  // namespace distributions

template <class X, class P>
Var<RealOf<X, P>> half_cauchy_lpdf(const X& x, const P& scale) {
    using A = Arg<RealOf<X, P>>;
    return distributions::HalfCauchy<RealOf<X, P>>::lpdf(A::borrow(x), A::borrow(scale));
}

}  // namespace pollen
