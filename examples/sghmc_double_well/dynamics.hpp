#pragma once

#include <pollen/autograd/random.hpp>
#include <pollen/nn/potentials/potential.hpp>

#include <cstdint>
#include <vector>

// Motion in phase space by the gradients of a potential, exact or of batches of one, which have the variance V:
//
//     dr = -grad U dt - C r dt + N(0, 2 (C - B) dt),    dx = r dt
//
// where B = V dt / 2 is what the noise of the gradients brings along.
struct Dynamics {
    double variance = 0;  // V; 0: exact gradients
    double friction = 0;  // C
    int fresh_every = 0;  // steps from one new momentum to the next; 0: none

    static constexpr double dt = 0.1;

    struct Path {
        std::vector<double> x, r;  // after each step
        double energy(std::size_t step) const { return (x[step - 1] * x[step - 1] + r[step - 1] * r[step - 1]) / 2; }
    };
    // From x = 0, r = 1.
    Path path(pollen::Potential<double>& potential, std::int64_t steps, pollen::Random random) const;
};
