#pragma once

#include <pollen/samplers/run/detail/run_plan.hpp>

namespace pollen::detail {

// The most bytes that the files of one chain take: the rows of its draws, its state, and the new state beside the old
// one while it is replaced. `chain` visits the state of the chain when it begins.
double disk_of_chain(const RunPlan& plan, const ChainFacts& facts, const VisitState& chain);

// Throws unless the file system has so many bytes for the files of the run, less those that its files in the directory
// have already.
void check_disk(const RunPlan& plan, double bytes);

}  // namespace pollen::detail
