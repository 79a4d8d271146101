#pragma once

#include <pollen/data/sets/dataset.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/potentials/network_potential.hpp>

#include <cstdint>
#include <string>

constexpr std::int64_t chains = 4;

// Digits, a network that learns them, and pictures of clothes, which it never saw.
//
//     dense            49-hidden-10, tanh, of 7 x 7 pixels; prior N(0, 1)
//     convolutional    two convolutions with filter response normalisation and Swish, of 14 x 14 pixels; prior
//                      N(0, 1/5), as in the paper
struct Problem {
    std::uint64_t seed;
    bool convolutional;
    double prior_sd;  // of all weights
    pollen::Dataset<float> train_data, test_data, clothes;
    pollen::Sequential<float> net;
    pollen::NetworkPotential<float> potential;  // U(theta) = -log p(labels | theta) - log p(theta)

    // Throws a ValueError for a network that is neither.
    Problem(const std::string& network, std::int64_t digits, std::int64_t hidden, std::uint64_t random_seed);
};
