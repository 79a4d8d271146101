#pragma once

#include <pollen/samplers/diagnostics/detail/autocovariance.hpp>

namespace pollen::detail {

// The effective sample size of chains as they are.
double ess(const ChainBlock& x, MeanAutocovariance& autocovariance);
// ... of split chains, for the share of draws that are at most the given quantile.
double ess_quantile(std::span<const double> values, std::size_t chains, double quantile,
                    MeanAutocovariance& autocovariance);
double ess_split(std::span<const double> values, std::int64_t chains);

}  // namespace pollen::detail
