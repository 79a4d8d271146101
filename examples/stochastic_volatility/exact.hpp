#pragma once

#include "../common/stage.hpp"

#include <vector>

// The exact posterior of sigma and nu and of s on some days, by sums over grids: given sigma and nu the model is a
// hidden Markov model with the state s_i, whose likelihood and smoothed states are sums forwards and backwards in time.
// The integrands are smooth and vanish at the ends, so that the errors of such sums fall faster than any power of the
// spacing.
//
//     "log evidence"    one number
//     "moments"         (2 + days, 2): mean and sd of sigma, nu and s_day; days are counted from 1
Found exact_posterior(const pollen::Tensor<double>& returns, const std::vector<std::int64_t>& days);
