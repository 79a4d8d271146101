#pragma once

#include "../common/example.hpp"
#include "known.hpp"
#include "method.hpp"

// sigma and nu by each method, below what is known of them.
void show_posteriors(const Example& example, const Methods& methods, const Known& known);

// The bounds of the variational fits, beside the log evidence and beside the first of them, draw by draw.
void show_bounds(const Example& example, const Methods& methods, const Known& known);

// What the draws are worth, and what they cost.
void show_costs(const Example& example, const Methods& methods, const Known& known);

// Moments of runs of one sampler with different seeds, together and each for itself, beside the exact ones and Stan's,
// with the distance in standard errors; and log densities that can be computed elsewhere.
void show_agreement(const Example& example, const Methods& seeds, const Known& known,
                    const pollen::Tensor<double>& returns);
