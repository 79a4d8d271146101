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
class Gamma : public Density<T, GammaLaw<T>, 2> {
  public:
    Gamma(Arg<T> shape, Arg<T> rate) : Gamma::Density({std::move(shape), std::move(rate)}) {}

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P, class Q>
Gamma(const P&, const Q&) -> Gamma<RealOf<P, Q>>;

// KL(p || q): the sum over all elements as a node, or the elements.
template <Real T>
Var<T> kl(const Gamma<T>& p, const Gamma<T>& q);
template <Real T>
Tensor<T> kl_each(const Gamma<T>& p, const Gamma<T>& q);

extern template class Density<float, GammaLaw<float>, 2>;
extern template class Density<double, GammaLaw<double>, 2>;
extern template class Gamma<float>;
extern template class Gamma<double>;

}  // namespace distributions

template <class X, class P, class Q>
Var<RealOf<X, P, Q>> gamma_lpdf(const X& x, const P& shape, const Q& rate) {
    using A = Arg<RealOf<X, P, Q>>;
    return distributions::Gamma<RealOf<X, P, Q>>::lpdf(A::borrow(x), A::borrow(shape), A::borrow(rate));
}

}  // namespace pollen
