#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/nn/distributions/argument.hpp>

namespace pollen {

namespace distributions {

// Vectors of d numbers with mean (..., d) and covariance L L', L (d, d) lower triangular with a positive diagonal; what
// stands above it is not read.
//
//     log p(x) = -|L^-1 (x - mean)|^2 / 2 - sum_i log L_ii - d log(2 pi) / 2
template <Real T>
class MultivariateNormal {
  public:
    MultivariateNormal(Arg<T> mean, Arg<T> cholesky);

    // x and the mean are (..., d) and broadcast. The sum over all vectors, as one node; and a number for each vector.
    Var<T> log_prob(const Arg<T>& x) const;
    Tensor<T> log_prob_each(const Tensor<T>& x) const;

    // Draws of the shape given, whose last axis is d.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;    // (d), the covariance's diagonal
    Tensor<T> covariance() const;  // (d, d)

    const Arg<T>& location() const { return mean_; }
    const Arg<T>& cholesky() const { return cholesky_; }
    std::int64_t dimension() const { return cholesky_.shape()[0]; }

  private:
    Arg<T> mean_, cholesky_;
};

template <class P, class Q>
MultivariateNormal(const P&, const Q&) -> MultivariateNormal<RealOf<P, Q>>;

// KL(p || q), summed over all vectors that the means hold.
template <Real T>
Var<T> kl(const MultivariateNormal<T>& p, const MultivariateNormal<T>& q);

}  // namespace distributions

template <class X, class P, class Q>
Var<RealOf<X, P, Q>> multi_normal_cholesky_lpdf(const X& x, const P& mean, const Q& cholesky) {
    using A = Arg<RealOf<X, P, Q>>;
    if constexpr (arguments_fit<X, P, Q>())
        return distributions::MultivariateNormal<RealOf<X, P, Q>>(A::borrow(mean), A::borrow(cholesky))
            .log_prob(A::borrow(x));
    else
        return {};
}

}  // namespace pollen
