#pragma once

#include <pollen/autograd/support/group.hpp>

#include <functional>

namespace pollen {

// Calls f in `ranks` threads of this process at once, each with its rank of one group, and returns when all are done.
// It is how programs for many machines are tested on one.
//
// If f throws on a rank, the calls of the others throw a GroupError "rank 3: ...", and run_group throws what the first
// rank to fail threw. So it does if a rank returns while others make another call. Throws a ValueError unless ranks is
// 1 to 1,024, and an Error if the system refuses the threads.
void run_group(int ranks, const std::function<void(Group&)>& f);

}  // namespace pollen
