#include <pollen/nn/variational/detail/posterior_parts.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/ops.hpp>
#include <pollen/autograd/support/checks.hpp>

#include <cmath>

namespace pollen {

double rho_of(const char* posterior, double sd, double share) {
    if (!(sd > 0 && std::isfinite(sd)))
        throw ValueError(std::string(posterior) + ": initial_sd is " + to_text(sd) + "; it must be positive");
    return sd > 30 ? share * sd : math::log(math::expm1(share * sd));
}

template <Real T>
Tensor<T> softplus_of(const Tensor<T>& rho) {
    Tape<T> tape(Recording::off);
    return softplus(tape.borrow(rho)).value();
}

template <Real T>
void set_mean_value(const char* posterior, Parameter<T>& mu, const Tensor<T>& mean) {
    if (mean.shape() != mu.shape)
        throw ShapeError(std::string(posterior) + ": a mean of shape " + to_string(mean.shape()) + " for weights " +
                         to_string(mu.shape));
    mu.value = mean;
}

template <Real T>
Var<T> log_q_log_p(Var<T> log_q, Var<T> log_p) {
    return stack({reshape(log_q, Shape{}), reshape(log_p, Shape{})});
}

template Tensor<float> softplus_of(const Tensor<float>&);
template Tensor<double> softplus_of(const Tensor<double>&);
template void set_mean_value(const char*, Parameter<float>&, const Tensor<float>&);
template void set_mean_value(const char*, Parameter<double>&, const Tensor<double>&);
template Var<float> log_q_log_p(Var<float>, Var<float>);
template Var<double> log_q_log_p(Var<double>, Var<double>);

}  // namespace pollen
