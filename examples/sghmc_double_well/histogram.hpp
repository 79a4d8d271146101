#pragma once

#include "../common/figure.hpp"

#include <pollen/nn/potentials/potential.hpp>

#include <vector>

// Draws of one number, in 50 cells from -2.5 to 2.5.
BinnedDraws histogram(const pollen::Tensor<double>& draws);

// exp(-U) over its integral, by quadrature with 20 points a cell.
struct Exact {
    std::vector<double> x, weight;
    double mean_square = 0;  // of x

    explicit Exact(pollen::Potential<double>& potential);
    BinnedDraws histogram() const;
};

// Half the sum of all differences of probabilities: 0 for the same law, 1 for laws without anything in common. What is
// outside the cells counts, too.
double total_variation(const BinnedDraws& p, const BinnedDraws& q);

// What chance does to the total variation of n independent draws. With p the probability of a cell it is the sum of all
//
//     E |count / n - p| / 2 = sqrt(p (1 - p) / (2 pi n))
double expected_variation(const BinnedDraws& exact, double n);
