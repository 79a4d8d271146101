#pragma once

#include <pollen/samplers/minibatch/sgld.hpp>

#include <cstdint>
#include <memory>
#include <vector>

constexpr std::int64_t items = 1000, batch = 10;

// The numbers y, and what is known of the loss (loss.hpp).
struct Problem {
    std::vector<double> y = std::vector<double>(items);
    double precision = items + 1, mode = 0;
    double variance = 0;  // V of the gradient of a batch: N^2/n S^2 (1 - n/N)

    bool slip = false;  // the broken twin: half of the variance of the injected noise

    Problem(std::uint64_t seed, bool broken);
    // V, if this is the variance of the gradients of single items.
    static double noise_of(double of_items) {
        return items * items / static_cast<double>(batch) * of_items * (1 - batch / static_cast<double>(items));
    }
    // At T = 0, Sgld is gradient descent or SGD.
    std::unique_ptr<pollen::Potential<double>> potential(double temperature) const;
    double gradient(double theta) const { return precision * (theta - mode); }
    double alpha(double e) const { return e * variance / 4; }  // noise of the batches / injected noise
};

// theta after each step, the start before them.
std::vector<double> path(const Problem& problem, const pollen::Sgld& sampler, double temperature, double start,
                         std::int64_t steps, std::uint64_t seed, std::uint32_t which = 0);
