#pragma once

#include <pollen/autograd/tape.hpp>

#include <string>

namespace pollen {

// w ~ N(0, tau^2), tau ~ half-Cauchy(scale): one tau for each weight tensor, learned with the posterior, so that a
// tensor that is not needed shrinks as a whole (the global half of a horseshoe; Carvalho et al. 2010).
struct HierarchicalPrior {
    double scale = 1;

    // log p(w, log tau) = sum log N(w | 0, tau^2) + log half-Cauchy(tau | scale) + log tau, the last because the
    // density is that of log tau. A DomainError if tau = exp(log_tau) underflows to 0.
    template <Real T>
    Var<T> log_prob(Var<T> w, Var<T> log_tau) const;
    void check() const;
    std::string describe() const;
};

}  // namespace pollen
