#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/samplers/diagnostics/diagnostics.hpp>

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace pollen {

// The summary of one quantity. Diagnostics that cannot be computed from the draws are NaN.
struct QuantitySummary {
    double mean = 0, sd = 0, mcse = 0;  // mcse: of the mean
    double q5 = 0, q50 = 0, q95 = 0;
    double ess_bulk = 0, ess_tail = 0, rhat = 0;
    std::int64_t not_finite = 0;  // draws that are NaN or infinite
    bool constant = false;        // all draws are equal
};
QuantitySummary summarise(const Chains& x);  // summarise(Chains(draws["tau"]))
// Of all quantities of draws (chains, draws, quantities), on all threads. With weights, one a draw, chain after chain,
// mean, sd and quantiles are weighted; ESS and R-hat are those of the draws as they are, the ESS times the share
// (sum w)^2 / (n sum w^2) that unequal weights leave of it.
template <Real T>
std::vector<QuantitySummary> summarise(const Tensor<T>& draws, std::span<const double> weights = {});

// What a sampler reports of the draws of one chain, without the warm-up. What it does not know stays empty.
struct ChainStatistics {
    std::span<const double> energy = {};
    std::span<const std::uint8_t> divergent = {};  // 1 if the trajectory diverged
    std::span<const std::int32_t> tree_depth = {};
    std::span<const double> acceptance = {};
    // Counted in all steps, also in those that thinning left out of the draws; steps = 0: count in the draws.
    std::int64_t steps = 0, divergences = 0, deep = 0;
    double ebfmi = std::numeric_limits<double>::quiet_NaN();  // of all steps; NaN: that of the energy
};

struct SummaryOptions {
    std::span<const ChainStatistics> statistics = {};  // one a chain, or none
    int max_tree_depth = 10;                           // the sampler's limit
    std::span<const double> weights = {};              // one a draw, chain after chain, or none
    std::span<const std::string> remarks = {};         // lines that come before the warnings
    bool network = false;                              // the quantities are the weights of one
    std::int64_t asked = 0;                            // draws a chain of a run that was interrupted before that
};

// The warnings in words, one an entry, the gravest first; none is a good sign. Chains are counted from 1.
template <Real T>
std::vector<std::string> warnings(std::span<const std::string> names, const Tensor<T>& draws,
                                  const SummaryOptions& options = {});

// A table with a line a quantity, what the sampler says, and the warnings.
template <Real T>
std::string summary(std::span<const std::string> names, const Tensor<T>& draws, const SummaryOptions& options = {});

}  // namespace pollen
