#pragma once

#include <cstdint>

namespace pollen {

// The order in which the sums of blocks of items are added up: a binary tree over leaves 0, 1, 2, ... whose shape
// depends on their number alone, so that it does not matter who computed which leaf.
//
//     sum(first, last) = sum(first, first + h) + sum(first + h, last)      h the largest power of two < last - first
//
// A leaf is what sum(i, i + 1) is. add(i, j), with i < j, is to put the sum of what is at i and at j at i; in the end
// the sum of all is at 0. Leaves [k 2^e, (k + 1) 2^e) always are one whole tree: any run of leaves consists of a few
// such trees, at most 2 log2(leaves) of them.
template <class Add>
void tree_sum(std::int64_t leaves, const Add& add) {
    for (std::int64_t step = 1; step < leaves; step *= 2)
        for (std::int64_t i = 0; i + step < leaves; i += 2 * step) add(i, i + step);
}

}  // namespace pollen
