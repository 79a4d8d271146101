#pragma once

#include "../common/example.hpp"

#include <cstdint>

// Momentum descent with noise, as one may write it down at first, on U = x^2 / 2:
//
//     p = (1 - b) p - b dU/dx + sigma N(0, 1),    x += eta p
//
// Which sigma makes it a sampler, and what a Metropolis test of x alone does to it. With `slip` the noise is
// N(0, sigma^4): its variance was taken for its standard deviation.
void first_attempt(const Example& example, std::int64_t steps, bool slip);
