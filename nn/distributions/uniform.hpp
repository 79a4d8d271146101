#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct UniformLaw;

// log p(x) = -log(high - low) for low <= x <= high
template <Real T>
class Uniform : public Density<T, UniformLaw<T>, 2> {
  public:
    Uniform(Arg<T> low, Arg<T> high) : Uniform::Density({std::move(low), std::move(high)}) {}

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P, class Q>
Uniform(const P&, const Q&) -> Uniform<RealOf<P, Q>>;

extern template class Density<float, UniformLaw<float>, 2>;
extern template class Density<double, UniformLaw<double>, 2>;
extern template class Uniform<float>;
extern template class Uniform<double>;

}  // namespace distributions

template <class X, class P, class Q>
Var<RealOf<X, P, Q>> uniform_lpdf(const X& x, const P& low, const Q& high) {
    using A = Arg<RealOf<X, P, Q>>;
    return distributions::Uniform<RealOf<X, P, Q>>::lpdf(A::borrow(x), A::borrow(low), A::borrow(high));
}

}  // namespace pollen
