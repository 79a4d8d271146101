#pragma once

#include <cstdint>
#include <span>

namespace pollen {

// The items [begin, end), and the k-th of `parts` parts of them, whose sizes differ by at most one.
struct Items {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
    Items part(std::int64_t k, std::int64_t parts) const {
        return {begin + size() * k / parts, begin + size() * (k + 1) / parts};
    }
};

// Whether these are first, first + 1, ...
inline bool are_a_run(std::span<const std::int64_t> items) {
    for (std::size_t k = 1; k < items.size(); ++k)
        if (items[k] != items[k - 1] + 1) return false;
    return true;
}

// How many numbers a pass writes: for each item (0 if that is not known), and once, however many items there are.
// Anything that takes as long may be counted as numbers, too.
struct PassSize {
    std::int64_t per_item = 0, fixed = 0;
};

// How a sum over items is cut. The items are cut into stretches, the leaves of tree_sum(); threads share the leaves. A
// leaf is cut into blocks. A block goes through the whole network, forward and backward, and its gradient is added to
// that of its leaf.
//
// A block is so small that what a pass writes stays in the cache of one core. It is so large that what a pass writes
// once is little beside what it writes for the items. The number of leaves is a power of two. A leaf is one block. If
// the gradients of all leaves would take too much memory, there are fewer leaves, of several blocks each.
//
// A network with many parameters has one leaf, and its blocks have `most` items. All threads work on the products of
// one block there.
//
// All of it depends on sizes alone: the number of items, of parameters, and of the numbers that a pass writes.
struct ItemBlocks {
    std::int64_t items;
    std::int64_t leaves;
    std::int64_t block;  // items in a block, at most

    // Beyond this number of parameters there is one leaf.
    static constexpr std::int64_t most_parameters = std::int64_t{1} << 16;
    // The gradients of all leaves together have at most this many numbers.
    static constexpr std::int64_t most_gradients = std::int64_t{1} << 22;
    static constexpr std::int64_t most_leaves = 256;
    // A pass over a block writes about this many numbers. A block has at least this many items.
    static constexpr std::int64_t block_numbers = std::int64_t{1} << 14;
    static constexpr std::int64_t least_block = 32;
    // For its items a block writes at least half of this many times the numbers that it writes once.
    static constexpr std::int64_t times_fixed = 32;

    static ItemBlocks cut(std::int64_t items, std::int64_t parameters, const PassSize& pass, std::int64_t most);
    // One leaf with blocks of the same size.
    static ItemBlocks one_leaf(std::int64_t items, std::int64_t parameters, const PassSize& pass, std::int64_t most);

    bool whole() const { return leaves == 1 && block >= items; }

    Items leaf(std::int64_t k) const { return Items{0, items}.part(k, leaves); }
    // f(items) for each block of a leaf, in order.
    template <class F>
    void each_block(std::int64_t k, const F& f) const {
        const Items all = leaf(k);
        const std::int64_t blocks = (all.size() + block - 1) / block;
        for (std::int64_t b = 0; b < blocks; ++b) f(all.part(b, blocks));
    }
};

}  // namespace pollen
