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
class StudentT : public Density<T, StudentTLaw<T>, 3, pathwise> {
  public:
    StudentT(Arg<T> nu, Arg<T> location, Arg<T> scale)
        : StudentT::Density({std::move(nu), std::move(location), std::move(scale)}) {}
};

template <class P, class Q, class R>
StudentT(const P&, const Q&, const R&) -> StudentT<RealOf<P, Q, R>>;

}  // namespace distributions

auto student_t_lpdf(const auto& x, const auto& nu, const auto& location, const auto& scale) {
    return distributions::lpdf<distributions::StudentT>(x, nu, location, scale);
}

}  // namespace pollen
