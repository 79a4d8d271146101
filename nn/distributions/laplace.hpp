#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct LaplaceLaw;

// log p(x) = -|x - location| / scale - log(2 scale)
template <Real T>
class Laplace : public Density<T, LaplaceLaw<T>, 2> {
  public:
    Laplace(Arg<T> location, Arg<T> scale) : Laplace::Density({std::move(location), std::move(scale)}) {}

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P, class Q>
Laplace(const P&, const Q&) -> Laplace<RealOf<P, Q>>;

// KL(p || q): the sum over all elements as a node, or the elements.
template <Real T>
Var<T> kl(const Laplace<T>& p, const Laplace<T>& q);
template <Real T>
Tensor<T> kl_each(const Laplace<T>& p, const Laplace<T>& q);

extern template class Density<float, LaplaceLaw<float>, 2>;
extern template class Density<double, LaplaceLaw<double>, 2>;
extern template class Laplace<float>;
extern template class Laplace<double>;

}  // namespace distributions

template <class X, class P, class Q>
Var<RealOf<X, P, Q>> laplace_lpdf(const X& x, const P& location, const Q& scale) {
    using A = Arg<RealOf<X, P, Q>>;
    return distributions::Laplace<RealOf<X, P, Q>>::lpdf(A::borrow(x), A::borrow(location), A::borrow(scale));
}

}  // namespace pollen
