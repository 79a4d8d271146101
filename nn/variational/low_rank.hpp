#pragma once

#include <pollen/nn/variational/posterior.hpp>

namespace pollen {

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

// For the options of Bayesian layers.
template <Real T>
MakePosterior<T> low_rank(std::int64_t rank, double initial_sd = 0.01) {
    return [=](const Parameter<T>& p) { return std::make_unique<LowRank<T>>(p, rank, initial_sd); };
}

}  // namespace pollen
