#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct NormalLaw;

// log p(x) = -(x - mean)^2 / (2 sd^2) - log sd - log(2 pi) / 2
template <Real T>
class Normal : public Density<T, NormalLaw<T>, 2> {
  public:
    Normal(Arg<T> mean, Arg<T> sd) : Normal::Density({std::move(mean), std::move(sd)}) {}

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class M, class S>
Normal(const M&, const S&) -> Normal<RealOf<M, S>>;

// KL(p || q): the sum over all elements as a node, or the elements.
template <Real T>
Var<T> kl(const Normal<T>& p, const Normal<T>& q);
template <Real T>
Tensor<T> kl_each(const Normal<T>& p, const Normal<T>& q);

extern template class Density<float, NormalLaw<float>, 2>;
extern template class Density<double, NormalLaw<double>, 2>;
extern template class Normal<float>;
extern template class Normal<double>;

}  // namespace distributions

// As in Stan: the log density of all of x at once.
template <class X, class M, class S>
Var<RealOf<X, M, S>> normal_lpdf(const X& x, const M& mean, const S& sd) {
    using A = Arg<RealOf<X, M, S>>;
    return distributions::Normal<RealOf<X, M, S>>::lpdf(A::borrow(x), A::borrow(mean), A::borrow(sd));
}

}  // namespace pollen
