#pragma once

#include <pollen/samplers/run/detail/run_plan.hpp>

#include <string>
#include <vector>

namespace pollen::detail {

// The directories of the ranks of a run. On a common file system they are one and the same, and there is nothing to do.
// Otherwise the files of chains are copied: to the rank that runs a chain before it begins, and to rank 0 at the end.
// Files that are not those that a run wrote are never sent. All functions but same() are calls of the whole group.
class RankFiles {
  public:
    // Makes the directory on all ranks.
    explicit RankFiles(const RunPlan& plan);

    // Whether this rank has the directory of rank 0.
    bool same() const { return same_[static_cast<std::size_t>(plan_->group().rank())] != 0; }

    // If the run is resumed: copies the files of each chain from the rank whose saved state has made the most steps to
    // the rank that runs the chain. Otherwise throws if rank 0 has files of these chains.
    void fetch();
    // Returns the most bytes that deliver() needs on rank 0, beside the files that are there; 0 on the other ranks. For
    // each chain of this rank, `left` is how many bytes it has left to write, and `steps` how many steps it has made.
    double incoming(const std::vector<double>& left, const std::vector<std::int64_t>& steps) const;
    // Copies the files of chains to rank 0, which replaces its own. A chain is left out if rank 0 has had its files of
    // the same number of steps since fetch(). `steps` is how many steps each chain of this rank has made. If a chain
    // cannot be copied, the other chains still are; then the first error is thrown.
    void deliver(const std::vector<std::int64_t>& steps) const;

  private:
    bool is_common() const;
    std::int64_t number(std::int64_t c) const { return plan_->first_chain + c + 1; }
    double bytes_of(std::int64_t chain) const;
    void check(std::int64_t chain) const;
    bool is_whole(std::int64_t chain) const;
    void copy(std::int64_t chain, int from, int to) const;

    const RunPlan* plan_;
    std::vector<char> same_;  // for each rank, whether it has the directory of rank 0
    // On rank 0, after fetch(): how far its files are with each chain of another directory; -1: less far than others,
    // or damaged.
    std::vector<std::int64_t> steps_;
};

}  // namespace pollen::detail
