#pragma once

#include <pollen/samplers/run/run_chains.hpp>

#include <array>
#include <string>

// What samplers are compared by: mean and standard deviation of theta1, the same of theta2, and P(theta2 > 0).
using Moments = std::array<double, 5>;

// Sums over points (theta1, theta2), each with its weight.
struct WeightedSums {
    std::array<double, 6> s = {};

    void add(double theta1, double theta2, double weight);
    double total() const { return s[0]; }
    Moments moments() const;
};

// What one sampler made of it. Draws have weights: the step size, where that falls.
struct Run {
    std::string name, published;
    pollen::Draws draws;

    std::int64_t chains() const { return std::ssize(draws.chains); }
    Moments moments() const { return without(-1); }
    Moments without(std::int64_t chain) const;
    Moments only(std::int64_t chain) const;

    // The standard errors of moments() by the jackknife, from how much they change where a chain c of n is left out:
    //
    //     error^2 = (n - 1) / n sum_c (without(c) - moments())^2
    //
    // It takes chains to be independent and nothing else, so it is honest where single chains are stuck.
    Moments errors() const;

    // R-hat of theta2, over the draws whose weight is not 0: cyclical SGLD explores most of the time.
    double rhat() const;
};
