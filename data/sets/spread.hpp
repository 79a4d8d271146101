#pragma once

#include <pollen/autograd/shares.hpp>
#include <pollen/autograd/support/group.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace pollen {

// How the items of a data set are spread over the ranks of a group. The items are cut into blocks of consecutive items,
// whose sizes differ by at most one, and each rank has some consecutive blocks:
//
//     const Spread spread(group, 60'000, 64);
//     const Dataset<float> mine = ...;  // items spread.first(), ..., spread.last() - 1 of the 60,000
//
// A sum over items is computed block by block, and the sums of the blocks are added up in the order of ordered_sum().
// So the bits of results depend on the number of blocks, but not on the number of ranks. The items of a batch that are
// in the same block are computed at once: few blocks are faster for small batches, and many blocks can be shared by
// more ranks, and more evenly.
class Spread {
  public:
    // A call of the whole group. Throws a GroupError on all ranks if they do not have the same numbers, and a
    // ValueError unless ranks <= blocks <= items.
    Spread(Group& group, std::int64_t items, std::int64_t blocks = 64);

    Group& group() const { return *group_; }
    std::int64_t items() const { return items_; }
    std::int64_t blocks() const { return shares_.leaves(); }
    // Which blocks each rank has.
    const Shares& shares() const { return shares_; }

    // The items of this rank are [first, last).
    std::int64_t first() const { return begin(shares_.first(group_->rank())); }
    std::int64_t last() const { return begin(shares_.last(group_->rank())); }
    std::int64_t count() const { return last() - first(); }

    // Block k has the items [begin(k), begin(k + 1)). Throws a ValueError unless 0 <= k <= blocks().
    std::int64_t begin(std::int64_t block) const;
    // The block that an item is in. Throws a ValueError if there is no such item.
    std::int64_t block_of(std::int64_t item) const;

    // A batch whose items are sorted by their blocks: the part that is in one block.
    struct Part {
        std::int64_t block = 0;
        std::int64_t first_row = 0;             // how many items of the batch are in earlier blocks
        std::vector<std::int64_t> items = {};   // in the order of the batch; counted from first() of this rank
        std::vector<std::int64_t> places = {};  // in the batch
    };
    // The parts of a batch that this rank has. Blocks without an item of the batch are left out.
    std::vector<Part> parts(std::span<const std::int64_t> batch) const;

  private:
    Group* group_;
    std::int64_t items_;
    Shares shares_;
};

}  // namespace pollen
