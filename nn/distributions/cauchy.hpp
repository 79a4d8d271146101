#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct CauchyLaw;

// log p(x) = -log(1 + ((x - location) / scale)^2) - log scale - log pi
template <Real T>
class Cauchy : public Density<T, CauchyLaw<T>, 2> {
  public:
    Cauchy(Arg<T> location, Arg<T> scale) : Cauchy::Density({std::move(location), std::move(scale)}) {}

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P, class Q>
Cauchy(const P&, const Q&) -> Cauchy<RealOf<P, Q>>;

extern template class Density<float, CauchyLaw<float>, 2>;
extern template class Density<double, CauchyLaw<double>, 2>;
extern template class Cauchy<float>;
extern template class Cauchy<double>;

}  // namespace distributions

template <class X, class P, class Q>
Var<RealOf<X, P, Q>> cauchy_lpdf(const X& x, const P& location, const Q& scale) {
    using A = Arg<RealOf<X, P, Q>>;
    return distributions::Cauchy<RealOf<X, P, Q>>::lpdf(A::borrow(x), A::borrow(location), A::borrow(scale));
}

}  // namespace pollen
