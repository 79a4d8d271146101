#pragma once

#include <pollen/nn/distributions/density.hpp>

namespace pollen {

namespace distributions {

template <Real T>
struct StudentTLaw;

// With z = (x - location) / scale:
//     log p(x) = -(nu + 1) / 2 log(1 + z^2 / nu) - log scale
//                + log Gamma((nu + 1) / 2) - log Gamma(nu / 2) - log(nu pi) / 2
template <Real T>
class StudentT : public Density<T, StudentTLaw<T>, 3> {
  public:
    StudentT(Arg<T> nu, Arg<T> location, Arg<T> scale)
        : StudentT::Density({std::move(nu), std::move(location), std::move(scale)}) {}

    // Draws of the shape given, to which the parameters broadcast; rsample passes gradients back to them.
    Tensor<T> sample(const Shape& shape, const RandomKey& key) const;
    Var<T> rsample(const Shape& shape, const RandomKey& key) const;

    Tensor<T> mean() const;
    Tensor<T> variance() const;
    Tensor<T> cdf(const Tensor<T>& x) const;
};

template <class P, class Q, class R>
StudentT(const P&, const Q&, const R&) -> StudentT<RealOf<P, Q, R>>;

extern template class Density<float, StudentTLaw<float>, 3>;
extern template class Density<double, StudentTLaw<double>, 3>;
extern template class StudentT<float>;
extern template class StudentT<double>;

}  // namespace distributions

template <class X, class P, class Q, class R>
Var<RealOf<X, P, Q, R>> student_t_lpdf(const X& x, const P& nu, const Q& location, const R& scale) {
    using A = Arg<RealOf<X, P, Q, R>>;
    return distributions::StudentT<RealOf<X, P, Q, R>>::lpdf(A::borrow(x), A::borrow(nu), A::borrow(location),
                                                             A::borrow(scale));
}

}  // namespace pollen
