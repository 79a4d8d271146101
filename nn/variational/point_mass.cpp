#include <pollen/nn/variational/point_mass.hpp>

#include <pollen/nn/variational/detail/posterior_parts.hpp>

namespace pollen {

template <Real T>
PointMass<T>::PointMass(const Parameter<T>& parameter) : mu(parameter) {}

template <Real T>
WeightDraw<T> PointMass<T>::draw(Pass<T>& pass, const Prior& prior, const RandomKey&) const {
    const Var<T> w = pass(mu), log_q = pass.tape().constant(T(0));
    const Var<T> log_p = log_prior(prior, w, pass.complexity_value());
    return {w, log_q_log_p(log_q, log_p)};
}

template <Real T>
void PointMass<T>::set_mean(const Tensor<T>& mean) {
    set_mean_value("PointMass", mu, mean);
}

template class PointMass<float>;
template class PointMass<double>;

}  // namespace pollen
