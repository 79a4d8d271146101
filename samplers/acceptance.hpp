#pragma once

#include <pollen/nn/potentials/potential.hpp>

// What samplers with a Metropolis step share.
namespace pollen {

// U(a) - U(b). The parts are subtracted first, since each is a large number and their differences are small.
double energy_difference(const Energy& a, const Energy& b);

// min(1, exp(-rise)), the probability with which a Metropolis step that raises the energy (in units of T) is accepted.
// It is 0 if the rise is not a number.
double acceptance_probability(double rise);

// The target acceptance of a random walk: 0.234 + 0.206 / dimensions. It is 0.44 in one dimension and close to
// the optima of Gelman, Roberts & Gilks (Efficient Metropolis jumping rules, 1996).
double random_walk_target(std::int64_t dimensions);

}  // namespace pollen
