#include <pollen/nn/priors/hierarchical_prior.hpp>

#include <pollen/nn/distributions/half_cauchy.hpp>
#include <pollen/nn/distributions/normal.hpp>
#include <pollen/nn/priors/detail/check_prior.hpp>

namespace pollen {

template <Real T>
Var<T> HierarchicalPrior::log_prob(Var<T> w, Var<T> log_tau) const {
    const Var<T> tau = exp(log_tau);
    const Var<T> of_weights = normal_lpdf(w, 0, tau);
    const Var<T> of_tau = half_cauchy_lpdf(tau, scale);
    const Var<T> of_both = of_weights + of_tau;
    return of_both + log_tau;
}

void HierarchicalPrior::check() const { check_width(*this, "scale", scale); }
std::string HierarchicalPrior::describe() const { return call("HierarchicalPrior", "scale " + to_text(scale)); }

template Var<float> HierarchicalPrior::log_prob(Var<float>, Var<float>) const;
template Var<double> HierarchicalPrior::log_prob(Var<double>, Var<double>) const;

}  // namespace pollen
