#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct PoissonLaw;

// log p(x) = x log rate - rate - log x! for x = 0, 1, 2, ...
template <Real T>
class Poisson : public Density<T, PoissonLaw<T>, 1> {
  public:
    explicit Poisson(Arg<T> rate) : Poisson::Density({std::move(rate)}) {}

    // Draws of the shape given, to which the parameters broadcast.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P>
Poisson(const P&) -> Poisson<RealOf<P>>;

// KL(p || q): the sum over all elements as a node, or the elements.
template <Real T>
Var<T> kl(const Poisson<T>& p, const Poisson<T>& q);
template <Real T>
Tensor<T> kl_each(const Poisson<T>& p, const Poisson<T>& q);

extern template class Density<float, PoissonLaw<float>, 1>;
extern template class Density<double, PoissonLaw<double>, 1>;
extern template class Poisson<float>;
extern template class Poisson<double>;

}  // namespace distributions

template <class X, class P>
Var<RealOf<X, P>> poisson_lpmf(const X& x, const P& rate) {
    using A = Arg<RealOf<X, P>>;
    return distributions::Poisson<RealOf<X, P>>::lpdf(A::borrow(x), A::borrow(rate));
}

}  // namespace pollen
