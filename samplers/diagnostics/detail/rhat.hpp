#pragma once

#include <pollen/samplers/diagnostics/detail/draws_math.hpp>

namespace pollen::detail {

// The R-hat of chains as they are.
double rhat(const ChainBlock& x);
// The R-hat of chains whose draws, none of them NaN, have the given order, which is folded along the way: the greater
// one of the ranks and of the ranks of the distances from the median. The ranks, normalised, are left in x.
double ranked_rhat(ChainBlock& x, std::vector<PlacedDraw>& order, double median);

}  // namespace pollen::detail
