#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <span>
#include <vector>

// Averages over draws of a sampler whose steps shrink. A draw stands for the time until the next one, so the step
// e_{t+1} that leaves theta_t is the weight of theta_t (Teh, Thiery and Vollmer, Consistency and fluctuations for
// stochastic gradient Langevin dynamics, 2016):
//
//     E f = sum_t e_{t+1} f(theta_t) / sum_t e_{t+1}
namespace pollen {

// Means and variances of d numbers at once, without keeping the draws (West, Updating mean and variance estimates: an
// improved method, 1979). The members are all there is to save.
struct WeightedMoments {
    double weight = 0;           // the sum of all weights
    double squared_weights = 0;  // the sum of their squares
    std::vector<double> mean, squares;

    WeightedMoments() = default;
    explicit WeightedMoments(std::int64_t dimensions);

    // theta_t and e_{t+1}. A weight of 0 changes nothing.
    template <Real T>
    void add(std::span<const T> values, double with_weight);

    // sum w (x - mean)^2 / sum w; NaN before the first draw.
    std::vector<double> variance() const;
    // (sum w)^2 / sum w^2: how many draws of equal weight have the same variance, if draws are independent.
    double draws() const;
};

// The smallest draw x such that the draws up to x have at least the share p of the total weight.
double weighted_quantile(std::span<const double> values, std::span<const double> weights, double p);

}  // namespace pollen
