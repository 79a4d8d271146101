#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct LogNormalLaw;

// log p(x) = -(log x - mu)^2 / (2 sd^2) - log x - log sd - log(2 pi) / 2 for x > 0: exp(z) of z ~ Normal(mu, sd)
template <Real T>
class LogNormal : public Density<T, LogNormalLaw<T>, 2> {
  public:
    LogNormal(Arg<T> mu, Arg<T> sd) : LogNormal::Density({std::move(mu), std::move(sd)}) {}

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P, class Q>
LogNormal(const P&, const Q&) -> LogNormal<RealOf<P, Q>>;

// KL(p || q): the sum over all elements as a node, or the elements.
template <Real T>
Var<T> kl(const LogNormal<T>& p, const LogNormal<T>& q);
template <Real T>
Tensor<T> kl_each(const LogNormal<T>& p, const LogNormal<T>& q);

extern template class Density<float, LogNormalLaw<float>, 2>;
extern template class Density<double, LogNormalLaw<double>, 2>;
extern template class LogNormal<float>;
extern template class LogNormal<double>;

}  // namespace distributions

template <class X, class P, class Q>
Var<RealOf<X, P, Q>> log_normal_lpdf(const X& x, const P& mu, const Q& sd) {
    using A = Arg<RealOf<X, P, Q>>;
    return distributions::LogNormal<RealOf<X, P, Q>>::lpdf(A::borrow(x), A::borrow(mu), A::borrow(sd));
}

}  // namespace pollen
