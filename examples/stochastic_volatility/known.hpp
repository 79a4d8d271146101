#pragma once

#include "../common/stage.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

// What is known of a quantity: its exact mean and sd in the posterior, and Stan's, published with a standard error.
struct Reference {
    std::string name;
    std::int64_t day;  // of s, counted from 1; 0: a parameter
    double mean, sd;
    double stan = NAN, stan_error = NAN, stan_sd = NAN;
};

struct Known {
    double log_evidence;
    std::vector<Reference> of;  // sigma, nu, and s on some days
    bool published = false;     // whether others sampled it, too
};

// What Stan's published run had of sigma, a chain-second: 238 effective draws in 1,130.
constexpr double stan_ess_per_second = 0.21;

// The exact moments (exact.hpp), a stage of the example. Stan's are those of all 2905 returns.
Known known_of(const Example& example, const pollen::Tensor<double>& returns);
