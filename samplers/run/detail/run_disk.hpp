#pragma once

#include <pollen/samplers/run/detail/run_plan.hpp>

namespace pollen::detail {

// The most bytes that one chain writes after the draws that are `saved`: the rows of the other draws, the state, and
// the new state beside the old one while it is replaced. `chain` visits the state of the chain.
double disk_of_chain(const RunPlan& plan, const ChainFacts& facts, const VisitState& chain, std::int64_t saved = 0);

// Throws a FileError if the file system has less free space than `bytes`. If `resumed` is true, the message says that
// the run needs this space in addition to its files.
void check_disk(const std::string& directory, double bytes, bool resumed);

}  // namespace pollen::detail
