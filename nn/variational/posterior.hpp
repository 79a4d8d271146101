#pragma once

#include <pollen/nn/module/concrete.hpp>
#include <pollen/nn/module/pass.hpp>
#include <pollen/nn/priors/prior.hpp>

#include <functional>
#include <memory>
#include <string>

namespace pollen {

// A draw of weights from q, and what it costs: the sums of log q(w) and of log p(w) as a vector of two.
template <Real T>
struct WeightDraw {
    Var<T> weights;
    Var<T> log_q_log_p;
};

// An approximate posterior q(w | theta) of one weight tensor.
//
// Any q will do whose draws are a differentiable function w = t(theta, eps) of noise eps that has no parameters: then
// the gradient of E_q f(w, theta) is E_eps of the gradient of f(t(theta, eps), theta) (Blundell et al. 2015,
// Proposition 1). draw() is that function: it computes w from the leaves of the pass and the noise of `key`, and
// log q(w) - log p(w), both differentiable.
template <Real T>
class Posterior : public HasParameters<T> {
  public:
    virtual WeightDraw<T> draw(Pass<T>& pass, const Prior& prior, const RandomKey& key) const = 0;
    virtual Var<T> mean(Pass<T>& pass) const = 0;

    // The moments at the values of the parameters; for an sd that has no simple form, its best approximation.
    virtual Tensor<T> mean_value() const = 0;
    virtual Tensor<T> sd_value() const = 0;
    // Starts from weights that are already there.
    virtual void set_mean(const Tensor<T>& mean) = 0;

    virtual std::unique_ptr<Posterior<T>> clone() const = 0;
    virtual std::string describe() const = 0;
};

// Makes the posterior for a parameter of a deterministic layer. The posterior has the parameter's shape, and its mean
// has the parameter's initial distribution. If the parameter has a value, the mean gets it. The network is then ready
// for use, so the posterior's other parameters must get values, too, by start_with().
template <Real T>
using MakePosterior = std::function<std::unique_ptr<Posterior<T>>(const Parameter<T>&)>;

// Gives a parameter that has no value one from its initial law, if the mean has a value. The numbers depend on those of
// the mean: each tensor has its own. For the constructor and set_mean().
template <Real T>
void start_with(Parameter<T>& parameter, const Parameter<T>& mean);

// log p(w) of a prior as a node, for posteriors that have no quicker way. The prior must live as long as the node. The
// value may be left out (it is NaN then), as pass.complexity_value() says; the gradient is always right.
template <Real T>
Var<T> log_prior(const Prior& prior, Var<T> w, bool value = true);

}  // namespace pollen
