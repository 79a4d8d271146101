#pragma once

#include "../common/example.hpp"
#include "known.hpp"
#include "market.hpp"
#include "method.hpp"

// The volatility over time, a panel for each method, and in all of them the median of the first.
void draw_bands(const Example& example, const Methods& methods, const Market& market);

// The posteriors of sigma and nu by `methods`, and how the runs of NUTS move: sigma along a chain, and what a second
// brings.
void draw_posteriors(const Example& example, const Methods& methods, const Methods& nuts_runs, const Known& known);
