#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct ExponentialLaw;

// log p(x) = log rate - rate x for x >= 0; the mean is 1 / rate
template <Real T>
class Exponential : public Density<T, ExponentialLaw<T>, 1> {
  public:
    explicit Exponential(Arg<T> rate) : Exponential::Density({std::move(rate)}) {}

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P>
Exponential(const P&) -> Exponential<RealOf<P>>;

// KL(p || q): the sum over all elements as a node, or the elements.
template <Real T>
Var<T> kl(const Exponential<T>& p, const Exponential<T>& q);
template <Real T>
Tensor<T> kl_each(const Exponential<T>& p, const Exponential<T>& q);

extern template class Density<float, ExponentialLaw<float>, 1>;
extern template class Density<double, ExponentialLaw<double>, 1>;
extern template class Exponential<float>;
extern template class Exponential<double>;

}  // namespace distributions

template <class X, class P>
Var<RealOf<X, P>> exponential_lpdf(const X& x, const P& rate) {
    using A = Arg<RealOf<X, P>>;
    return distributions::Exponential<RealOf<X, P>>::lpdf(A::borrow(x), A::borrow(rate));
}

}  // namespace pollen
