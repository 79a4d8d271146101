#pragma once

#include <pollen/samplers/run/detail/run_plan.hpp>

#include <string>
#include <vector>

namespace pollen::detail {

// What a chain of a run has in the end, beside the values of its draws.
struct ChainResult {
    ChainRecord record;
    RowChecksums rows = {};
    std::string file = {};  // of draws, or nothing
};

// Returns the results of all chains on rank 0, and nothing on the others: a call of the whole group. `values`
// points to the values of this rank's chains, which are sent as well: options.draws x value_count numbers for each
// chain. On rank 0 it has room for the values of all chains. It is null if the run keeps no values.
std::vector<ChainResult> gather_results(const RunPlan& plan, std::vector<ChainResult> own, double* values);

// Puts chains, files and values into `draws`. If the chains have different lengths, since the run was stopped, the
// length is chosen that gives the most draws in all; shorter chains are left out. `values` (chains, draws, value_count)
// has room for `room` draws of each chain; it is used if `keep` is true.
void put_together(Draws& draws, std::vector<ChainResult> chains, Tensor<double> values, std::int64_t room, bool keep);

}  // namespace pollen::detail
