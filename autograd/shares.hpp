#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pollen {

// How leaves 0, 1, 2, ... of a sum are spread over the ranks of a group: each rank has a contiguous share, which may be
// empty. The leaves are, for example, blocks of items.
class Shares {
  public:
    // Rank r has the leaves begins[r], ..., begins[r + 1] - 1. Throws a ValueError unless there is a rank and the
    // numbers begin with 0 and never decrease; 2^24 ranks and 2^62 leaves are possible.
    explicit Shares(std::vector<std::int64_t> begins);

    // Shares that are cut where the tree of ordered_sum() branches, so that a rank sends few partial sums. The largest
    // share has at most 5 % more than leaves / ranks, or is that rounded up. Throws a ValueError unless leaves is 0 to
    // 2^62 and ranks is 1 to 2^24.
    static Shares cut(std::int64_t leaves, int ranks);

    int ranks() const { return static_cast<int>(begins_.size()) - 1; }
    std::int64_t leaves() const { return begins_.back(); }

    // The share of a rank is [first, last). Throw a ValueError if there is no such rank.
    std::int64_t first(int rank) const { return begins_[checked(rank)]; }
    std::int64_t last(int rank) const { return begins_[checked(rank) + 1]; }
    std::int64_t count(int rank) const { return last(rank) - first(rank); }

    // The rank that has a leaf. Throws a ValueError if there is no such leaf.
    int owner(std::int64_t leaf) const;

    // A number that tells other shares from these: to find out whether ranks agree.
    std::uint64_t checksum() const;

  private:
    std::size_t checked(int rank) const;

    std::vector<std::int64_t> begins_;
};

}  // namespace pollen
