#pragma once

#include "../common/climb.hpp"
#include "market.hpp"

// A Gaussian law of the path s whose precision B'B is tridiagonal, with parameters of its own:
//
//     s = level + y,   y_i = k_i y_{i-1} + w_i (mu_i + eps_i),   k_i = sigmoid(c + c_i),   w_i = exp(a + a_i)
//
// a and c move all days together. It starts where a path of the model with sigma = 0.1 would be near.
Family path_family(const pollen::Tensor<double>& returns);
// Rates of Adam for it, `rate` for a, c and mu, and `day_rate` for a_i and c_i.
std::vector<double> path_rates(double rate, double day_rate);

// The same law of the path beside independent normals for log sigma and log nu: a fit of all of the model in s.
Family path_and_parameters_family(const pollen::Tensor<double>& returns);

// The potential of (log sigma, log nu) whose gradients come from draws of a path that learns all the time: before each
// evaluation the path takes `path_steps` steps of Adam at those parameters, and the mean of dU at its draws is the
// gradient. If the path follows fast enough, U is the negative of the best bound given sigma and nu, nearly that of the
// exact evidence. It is for samplers that take noise in gradients. A clone begins with the path as it was given. Its
// quantities are sigma, nu and a draw of s.
class FollowedByPath final : public pollen::Potential<double> {
  public:
    FollowedByPath(const pollen::Tensor<double>& returns, Family path, std::int64_t path_steps);
    std::unique_ptr<Potential> clone() const override;
    std::int64_t size() const override { return 2; }
    std::int64_t items() const override { return 0; }
    pollen::Energy evaluate(std::span<const double> theta, std::span<double> gradient) override;
    pollen::Energy evaluate(std::span<const double> theta, std::span<double> gradient,
                            std::span<const std::int64_t> batch) override;
    const std::vector<pollen::Quantity>& quantities() const override { return quantities_; }
    void values(std::span<const double> theta, std::span<double> out) override;
    const std::vector<pollen::Quantity>& blocks() const override { return blocks_; }
    std::string describe() const override { return "stochastic volatility, followed by a Gaussian path"; }

  private:
    pollen::Tensor<double> returns_;
    Family first_path_, path_;
    std::int64_t path_steps_;
    std::unique_ptr<pollen::Potential<double>> model_;
    Climber climber_;
    std::vector<pollen::Quantity> quantities_, blocks_;
    std::uint64_t evaluations_ = 0;
};
