#pragma once

#include "../common/example.hpp"

#include <pollen/autograd/support/progress.hpp>
#include <pollen/data/sets/dataset.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/potentials/network_potential.hpp>

#include <cstdint>
#include <string>

constexpr std::int64_t batch = 100;
constexpr double prior_sd = 0.2;

struct Sizes {
    std::int64_t point_steps = 3000;    // of training for a network
    std::int64_t sampler_steps = 8000;  // of a chain
    std::int64_t draws = 100;           // of a chain
};

// Digits to learn from, and digits and strangers to be asked about.
struct Task {
    pollen::Dataset<float> train_data, digits, strangers;
    std::string word;  // for the strangers in tables and figures: clothes or letters
    Sizes sizes;
    pollen::Show show = pollen::Show::automatic;

    // How many passes through the training data make this many steps.
    std::int64_t epochs(std::int64_t steps) const;
    // The rate of a step on the mean loss in the units of the samplers: e = 2 rate / N, h = rate / N.
    double per_item(double rate) const;
};

// `strangers` is fashion-mnist or notmnist. Quick: a few hundred images of each.
Task read_task(Example& example, const std::string& strangers, const Sizes& sizes);

pollen::Sequential<float> network(double dropout = 0);

// U = -sum_i log p(y_i | x_i, theta) - log N(theta; 0, 0.2^2)
pollen::NetworkPotential<float> potential_of(const Task& task);
