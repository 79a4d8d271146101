#pragma once

#include <pollen/data/sets/dataset.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/potentials/network_potential.hpp>

#include <cstdint>

constexpr double prior_sd = 1;
constexpr std::int64_t chains = 4;

// Digits of 7 x 7 pixels, a network that learns them, and pictures of clothes, which it never saw.
struct Problem {
    std::uint64_t seed;
    pollen::Dataset<float> train_data, test_data, clothes;
    pollen::Sequential<float> net;              // 49-hidden-10, tanh
    pollen::NetworkPotential<float> potential;  // U(theta) = -log p(labels | theta) - log p(theta)

    Problem(std::int64_t digits, std::int64_t hidden, std::uint64_t random_seed);
};
