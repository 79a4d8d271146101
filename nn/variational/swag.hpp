#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace pollen {

// SWAG: a normal law around the path of SGD (Maddox et al., A simple baseline for Bayesian uncertainty in deep
// learning, 2019, Section 3). After training, SGD goes on at a constant rate. Of its path n points theta_1, theta_2,
// ... are collected, in the paper one an epoch:
//
//     mean      1/n sum_i theta_i
//     variance  1/n sum_i theta_i^2 - mean^2, number by number
//     D         the last K of the columns theta_i - mean_i, where mean_i is the mean of the first i points
//
//     q(theta) = N(mean, diag(variance) / 2 + D D' / (2 (K - 1)))
//
// K is the rank, or n if fewer points were collected. For instance
//
//     Swag<float> swag;
//     train(net, likelihood, data, {.epochs = 50, .optimiser = Sgd{.rate = 0.01}, .on_epoch = [&](const EpochRecord&) {
//               swag.collect(Parameters<float>(net).flatten().values());
//               return true;
//           }});
//     const Predictive<float> p = predict_thetas<float>(net, swag.draws(30, seed), x);
//
// q is as wide as the path. The path of a chain ConstantSgd, whose points can be collected as well, has a law that is
// known on a quadratic; q has its variances and half of its covariances.
//
// Multi-SWAG (Wilson & Izmailov, Bayesian deep learning and a probabilistic perspective of generalization, 2020) is a
// mixture of the q of several networks, trained from different starts: predict with the draws of all of them.
template <Real T>
class Swag {
  public:
    explicit Swag(std::int64_t rank = 20);  // at least 2

    // A point of the path. Throws a ShapeError if it has another size than those before it, and a ValueError if it is
    // not finite.
    void collect(std::span<const T> theta);
    std::int64_t collected() const { return collected_; }

    Tensor<T> mean() const;
    Tensor<T> variance() const;

    // Draw number k, k + 1, ... from q under the seed, laid out as the points. Throws a ValueError if fewer than two
    // points were collected.
    Tensor<T> draw(std::uint64_t seed, std::uint64_t k) const;
    std::vector<Tensor<T>> draws(std::int64_t count, std::uint64_t seed, std::uint64_t first = 0) const;

  private:
    Tensor<T> tensor(const char* what, const std::vector<double>& numbers, double by) const;

    std::int64_t rank_, collected_ = 0;
    std::vector<double> mean_, squares_;  // squares_: the sum of (theta_i - mean)^2
    std::vector<Tensor<T>> columns_;      // the last K; point i is in place i mod K
};

}  // namespace pollen
