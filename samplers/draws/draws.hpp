#pragma once

#include <pollen/autograd/tensor.hpp>
#include <pollen/nn/potentials/potential.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/diagnostics/batch_means.hpp>
#include <pollen/samplers/diagnostics/summary.hpp>
#include <pollen/samplers/draws/row_checksums.hpp>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace pollen {

// The temperature measured at the draws, each with its weight. Empty if a chain has no momenta, or no gradient.
struct TemperatureSums {
    BatchSums kinetic, configurational;
};

// What one chain reports. The vectors have one entry for each draw, but for inverse_metric.
struct ChainRecord {
    std::int64_t chain = 1;  // its number, counted from 1
    std::vector<double> energy, hamiltonian, acceptance, step_size, weight;
    std::vector<std::int64_t> gradients;
    std::vector<std::int32_t> tree_depth;
    std::vector<std::uint8_t> divergent, invalid;

    double step_size_after_warmup = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> inverse_metric = {};  // after warm-up: a diagonal, a matrix row by row, or nothing
    double warmup_seconds = 0, sampling_seconds = 0;

    // Counted in all steps after the warm-up, also in those that thinning left out. A step is deep if its tree reached
    // the maximal depth.
    std::int64_t steps = 0, divergences = 0, invalid_steps = 0, deep_steps = 0, gradient_count = 0;
    double ebfmi = std::numeric_limits<double>::quiet_NaN();
    TemperatureSums temperature = {};
    std::int64_t warmup_steps = 0;  // that were made

    std::int64_t draws() const { return std::ssize(energy); }
    void add(const StepStatistics& statistics, double weight_of_draw);
    void reserve(std::int64_t draws);
    void resize(std::int64_t draws);
};

// The draws of several chains.
//
//     draws["tau"]           (chains, draws): a quantity of one number
//     draws["theta"]         (chains, draws, 8): all of its elements
//     draws["theta[3]"]      (chains, draws): the third of them, counted from 1 as in tables
//     draws.at("theta", {2}) the same, counted from 0 as in C++
//
// The diagnostics take tensors (chains, draws): rhat(draws["tau"]).
struct Draws {
    std::vector<Quantity> quantities;
    Tensor<double> values;  // (chains, draws, value_count), or empty if draws are on disk only
    std::vector<ChainRecord> chains;
    std::vector<std::string> files;                                 // one a chain in CmdStan's layout, or none
    std::int64_t dimensions = 0;                                    // numbers in theta; 0: not known
    ChainFacts facts = {};                                          // what the sampler says of itself
    double temperature = std::numeric_limits<double>::quiet_NaN();  // the one asked for; NaN: not known
    bool network = false;                                           // theta is the weights of a network
    bool interrupted = false;
    // What was asked for: steps of warm-up, steps for a draw, draws of each chain (0: not known).
    std::int64_t warmup = 0, thin = 1, asked = 0;
    // Of files that were read: "chain 2 holds 225 of 20000 draws" for each that has fewer than its header says.
    std::vector<std::string> incomplete = {};
    // Of files that a run wrote: the checksums of their rows, one for each of `files`. each_draw() refuses other rows.
    std::vector<RowChecksums> row_checksums = {};
    // If the chains are a part of those of a run, by RunOptions::first_chain: how many the run has. Otherwise 0.
    std::int64_t chains_of_run = 0;
    // Whether another rank of a group has the draws, and this one has none: see RunOptions::group.
    bool elsewhere = false;

    // Draws of each chain. A run that ended early has the length that gives the most draws in all; the files have the
    // rest.
    std::int64_t size() const { return chains.empty() ? 0 : chains.front().draws(); }
    std::int64_t value_count() const;
    // The numbers of the draws whose weight is above 0 in all chains.
    std::vector<std::int64_t> counted() const;

    Tensor<double> operator[](std::string_view name) const;
    Tensor<double> at(std::string_view name, std::initializer_list<std::int64_t> index = {}) const;

    // The name of each value: tau, theta[1], theta[2], w[1,1], w[1,2], ...
    std::vector<std::string> names() const;

    // One number of each draw, (chains, draws): &ChainRecord::energy, ...
    template <class N>
    Tensor<double> statistic(std::vector<N> ChainRecord::*which) const;
};

// The table of all quantities, what the sampler reports, and the warnings. If draws have different weights, means,
// standard deviations and quantiles are weighted, and draws with weight 0 are ignored. If there are no draws, a line
// says why.
std::string summary(const Draws& draws);
// The same for some quantities alone: {"mu", "tau", "theta[3]"}.
std::string summary(const Draws& draws, std::initializer_list<std::string_view> names);
// The warnings alone.
std::vector<std::string> warnings(const Draws& draws);

}  // namespace pollen
