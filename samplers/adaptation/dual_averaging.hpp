#pragma once

#include <pollen/samplers/chain.hpp>

#include <cstdint>

namespace pollen {

struct DualAveragingOptions {
    double gamma = 0.05, t0 = 10, kappa = 0.75;
};

// Adapts a step size to a target acceptance by dual averaging (Hoffman & Gelman, The No-U-Turn sampler, 2014, Eq. 6).
// With H_t = target - acceptance of step t,
//
//     x_t    = mu - sqrt(t) / gamma * 1 / (t + t0) sum_i H_i          log of the next step size
//     xbar_t = t^-kappa x_t + (1 - t^-kappa) xbar_{t-1}               log of the final step size
class DualAveraging {
  public:
    DualAveraging() = default;
    DualAveraging(double target, const DualAveragingOptions& options) : target_(target), options_(options) {}

    // Begins again, around mu = log(10 step_size).
    void restart(double step_size);
    // Takes the acceptance of a step and returns the next step size.
    double learn(double acceptance);
    // The final step size.
    double average() const;
    void visit(StateVisitor& visitor);

  private:
    double target_ = 0.8;
    DualAveragingOptions options_;
    double mu_ = 0, mean_ = 0, average_ = 0;
    std::int64_t count_ = 0;
};

}  // namespace pollen
