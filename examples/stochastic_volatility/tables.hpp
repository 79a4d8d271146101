#pragma once

#include "../common/example.hpp"
#include "known.hpp"
#include "method.hpp"

// sigma and nu by each method, below what is known of them; `known` may be nullptr here and below.
void show_posteriors(const Example& example, const Methods& methods, const Known* known);

// What the draws are worth, and what they cost.
void show_costs(const Example& example, const Methods& methods, const Known* known);

// One method's moments beside the exact ones and Stan's, with the distance in standard errors of both; and log
// densities that can be computed elsewhere.
void show_agreement(const Example& example, const Method& method, const Known* known,
                    const pollen::Tensor<double>& returns);
