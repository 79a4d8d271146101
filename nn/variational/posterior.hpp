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

// How a posterior is made for a parameter of a deterministic layer: its shape, its initial law as that of the mean. The
// parameter may have a value, which is then the mean's: the network is ready for use, so the posterior's other
// parameters must get values, too, by start_with().
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

// w = mu + sigma eps, sigma = log(1 + exp(rho)), eps ~ N(0, 1): every weight by itself.
template <Real T>
class MeanField final : public Concrete<MeanField<T>, Posterior<T>> {
  public:
    MeanField(const Parameter<T>& parameter, double initial_sd);

    WeightDraw<T> draw(Pass<T>& pass, const Prior& prior, const RandomKey& key) const override;
    Var<T> mean(Pass<T>& pass) const override { return pass(mu); }
    Tensor<T> mean_value() const override { return mu.value; }
    Tensor<T> sd_value() const override;
    void set_mean(const Tensor<T>& mean) override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("mu", self.mu);
        visitor.parameter("rho", self.rho);
    }
    std::string describe() const override { return "MeanField"; }

    Parameter<T> mu, rho;
};

// w = mu + sigma eps + V z, eps ~ N(0, I), z ~ N(0, I_rank): covariance diag(sigma^2) + V V'. At the start each of the
// two has half of the variance initial_sd^2. The rank is at most the number of weights.
template <Real T>
class LowRank final : public Concrete<LowRank<T>, Posterior<T>> {
  public:
    LowRank(const Parameter<T>& parameter, std::int64_t rank, double initial_sd);

    WeightDraw<T> draw(Pass<T>& pass, const Prior& prior, const RandomKey& key) const override;
    Var<T> mean(Pass<T>& pass) const override { return pass(mu); }
    Tensor<T> mean_value() const override { return mu.value; }
    Tensor<T> sd_value() const override;
    void set_mean(const Tensor<T>& mean) override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("mu", self.mu);
        visitor.parameter("rho", self.rho);
        visitor.parameter("factors", self.factors);
    }
    std::string describe() const override;

    Parameter<T> mu, rho, factors;  // factors: (rank, size)
};

// w = mu: all weight at one point. log q is left out, so that the objective is -log p(data, w): its minimum is the MAP.
template <Real T>
class PointMass final : public Concrete<PointMass<T>, Posterior<T>> {
  public:
    explicit PointMass(const Parameter<T>& parameter);

    WeightDraw<T> draw(Pass<T>& pass, const Prior& prior, const RandomKey& key) const override;
    Var<T> mean(Pass<T>& pass) const override { return pass(mu); }
    Tensor<T> mean_value() const override { return mu.value; }
    Tensor<T> sd_value() const override { return Tensor<T>::zeros(mu.shape); }
    void set_mean(const Tensor<T>& mean) override;
    static void members(auto& self, auto& visitor) { visitor.parameter("mu", self.mu); }
    std::string describe() const override { return "PointMass"; }

    Parameter<T> mu;
};

// For the options of Bayesian layers.
template <Real T>
MakePosterior<T> mean_field(double initial_sd = 0.01) {
    return [=](const Parameter<T>& p) { return std::make_unique<MeanField<T>>(p, initial_sd); };
}
template <Real T>
MakePosterior<T> low_rank(std::int64_t rank, double initial_sd = 0.01) {
    return [=](const Parameter<T>& p) { return std::make_unique<LowRank<T>>(p, rank, initial_sd); };
}
template <Real T>
MakePosterior<T> point_mass() {
    return [](const Parameter<T>& p) { return std::make_unique<PointMass<T>>(p); };
}

}  // namespace pollen
