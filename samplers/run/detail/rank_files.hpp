#pragma once

#include <pollen/samplers/run/detail/run_plan.hpp>

#include <string>
#include <vector>

namespace pollen::detail {

// The directories of the ranks of a run. On a common file system they are one and the same, and there is nothing to do.
// Otherwise the files of chains are copied: to the rank that runs a chain before it begins, and to rank 0 at the end.
// All functions but same() are calls of the whole group.
class RankFiles {
  public:
    // Makes the directory on all ranks, and finds out which of them have that of rank 0: they see a file that rank 0
    // puts there for a moment.
    explicit RankFiles(const RunPlan& plan);

    // Whether this rank has the directory of rank 0.
    bool same() const { return same_[static_cast<std::size_t>(plan_->group().rank())] != 0; }

    // If the run is resumed: copies the files of each chain from the rank whose saved state has made the most steps to
    // the rank that runs the chain. Otherwise throws if rank 0 has files of these chains.
    void fetch() const;
    // Copies the files of all chains to rank 0. Existing files there are replaced.
    void deliver() const;

  private:
    bool is_common() const;
    void copy(std::int64_t chain, int from, int to) const;

    const RunPlan* plan_;
    std::vector<char> same_;  // for each rank
};

}  // namespace pollen::detail
