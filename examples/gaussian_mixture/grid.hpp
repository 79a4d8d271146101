#pragma once

#include "moments.hpp"

#include <pollen/nn/potentials/potential.hpp>

#include <vector>

// The posterior on square cells.
struct Grid {
    std::vector<double> x, y;     // the middles of the cells: theta1, theta2
    std::vector<double> density;  // density[i x.size() + j] at x[j], y[i], not normalised
    WeightedSums sums;

    Grid(pollen::Potential<double>& potential, double cell);
    // The density along the line that has a share of all probability inside.
    double level(double share) const;
};
