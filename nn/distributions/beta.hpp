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
class Beta : public Density<T, BetaLaw<T>, 2> {
  public:
    Beta(Arg<T> a, Arg<T> b) : Beta::Density({std::move(a), std::move(b)}) {}

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P, class Q>
Beta(const P&, const Q&) -> Beta<RealOf<P, Q>>;

// KL(p || q): the sum over all elements as a node, or the elements.
template <Real T>
Var<T> kl(const Beta<T>& p, const Beta<T>& q);
template <Real T>
Tensor<T> kl_each(const Beta<T>& p, const Beta<T>& q);

extern template class Density<float, BetaLaw<float>, 2>;
extern template class Density<double, BetaLaw<double>, 2>;
extern template class Beta<float>;
extern template class Beta<double>;

}  // namespace distributions

template <class X, class P, class Q>
Var<RealOf<X, P, Q>> beta_lpdf(const X& x, const P& a, const Q& b) {
    using A = Arg<RealOf<X, P, Q>>;
    return distributions::Beta<RealOf<X, P, Q>>::lpdf(A::borrow(x), A::borrow(a), A::borrow(b));
}

}  // namespace pollen
