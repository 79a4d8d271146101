#pragma once

#include <pollen/nn/variational/posterior.hpp>

namespace pollen {

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

// For the options of Bayesian layers.
template <Real T>
MakePosterior<T> mean_field(double initial_sd = 0.01) {
    return [=](const Parameter<T>& p) { return std::make_unique<MeanField<T>>(p, initial_sd); };
}

}  // namespace pollen
