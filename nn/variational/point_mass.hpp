#pragma once

#include <pollen/nn/variational/posterior.hpp>

namespace pollen {

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
MakePosterior<T> point_mass() {
    return [](const Parameter<T>& p) { return std::make_unique<PointMass<T>>(p); };
}

}  // namespace pollen
