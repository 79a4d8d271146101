#pragma once

#include "mixture.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

// How much each method may do.
struct Budget {
    std::int64_t updates = 8000;  // steps of Adam for a network; twice as many for Bayes by Backprop
    std::int64_t members = 5;     // networks of an ensemble; multi-SWAG, SGHMC and HMC start at them
    std::int64_t draws = 100;     // of weights, that a prediction averages
    std::int64_t hmc = 600;       // iterations of a chain of HMC, a third of them warm-up
};

// Networks with the most probable weights under the prior N(0, prior^2 / fan in): each theta has the weights, and then
// the log of the noise. What several methods begin with.
struct Networks {
    double prior = 0;
    std::vector<std::vector<float>> thetas;
};
Networks train_networks(const RegressionTask& task, double prior, std::int64_t members, const Budget& budget,
                        std::uint64_t seed);
Mixture predict_networks(const RegressionTask& task, const Networks& networks);

// Thrown where SGD diverges.
struct Diverged {};

// A method, and the settings that it is tried with on the validation data.
struct Method {
    std::string name, choice;  // what is chosen; empty if nothing is
    std::vector<double> settings;
    std::function<Mixture(const RegressionTask&, const Networks&, double setting, std::uint64_t seed)> predict;
};
// SWAG is followed by multi-SWAG, which takes over its setting.
std::vector<Method> methods_of(const Budget& budget);

inline const std::vector<double> priors{0.5, 1, 2, 4, 8};
