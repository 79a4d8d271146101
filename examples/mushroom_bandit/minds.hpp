#pragma once

#include "agent.hpp"

// What Thompson sampling by Bayes by Backprop can be set to. The prior of a weight is the paper's mixture
// pi N(0, sd1^2) + (1 - pi) N(0, sd2^2), by its grid of -log sd1 and -log sd2.
struct BayesSettings {
    double noise_sd, initial_sd, rate, pi;
    int minus_log_sd1, minus_log_sd2;
};

pollen::Sequential<float> network(const Mushrooms& mushrooms, std::int64_t hidden);
Mind thompson(const std::string& name, const pollen::Sequential<float>& net, const BayesSettings& settings);
// A share epsilon of the choices is left to chance.
Mind greedy(const pollen::Sequential<float>& net, double rate, double epsilon);
