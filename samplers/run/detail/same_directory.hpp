#pragma once

#include <pollen/samplers/run/detail/run_plan.hpp>

#include <vector>

namespace pollen::detail {

// Returns for each rank whether its directory is that of rank 0: whether it sees a file that rank 0 puts there for a
// moment. If rank 0 may not write there, it is the state of the first chain, and must have the same bytes and the same
// time. A call of the whole group, on all of whose ranks the directory exists.
std::vector<char> ranks_with_directory_of_0(const RunPlan& plan);

}  // namespace pollen::detail
