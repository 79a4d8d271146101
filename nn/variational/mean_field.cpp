#include <pollen/nn/variational/mean_field.hpp>

#include <pollen/nn/variational/detail/draw_weights.hpp>
#include <pollen/nn/variational/detail/posterior_parts.hpp>

namespace pollen {

template <Real T>
MeanField<T>::MeanField(const Parameter<T>& parameter, double initial_sd) : mu(parameter) {
    rho = {.shape = mu.shape, .init = Init::constant(rho_of("MeanField", initial_sd))};
    start_with(rho, mu);
}

template <Real T>
WeightDraw<T> MeanField<T>::draw(Pass<T>& pass, const Prior& prior, const RandomKey& key) const {
    return draw_weights(pass(mu), pass(rho), &prior, key, pass.complexity_value());
}

template <Real T>
Tensor<T> MeanField<T>::sd_value() const {
    return softplus_of(rho.value);
}

template <Real T>
void MeanField<T>::set_mean(const Tensor<T>& mean) {
    set_mean_value("MeanField", mu, mean);
    start_with(rho, mu);
}

template class MeanField<float>;
template class MeanField<double>;

}  // namespace pollen
