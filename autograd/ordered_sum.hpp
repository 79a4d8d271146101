#pragma once

#include <pollen/autograd/shares.hpp>
#include <pollen/autograd/support/group.hpp>
#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace pollen {

// The sum of leaves that are spread over the ranks of a group. Each leaf is a row of numbers, and rows are added
// elementwise in a binary tree whose shape depends on the number of all leaves alone:
//
//     sum(first, last) = sum(first, first + h) + sum(first + h, last)      h the largest power of two < last - first
//
// So the bits are those of a single process, whatever the number of ranks and whatever the shares.
//
// A call of the whole group: `leaves` are the rows of this rank's share, one after the other, and are overwritten.
// On every rank, `sum` receives the sum of all leaves. If there are no leaves, it receives zeros. It has the size of a
// row, and may be the first row of `leaves`.
//
// A rank adds up what it holds on its own. A node of the tree with leaves on several ranks is added by the rank that
// holds its first leaf, so work and traffic are spread over log2(ranks) rounds. A rank sends at most log2(leaves) rows
// and receives as many. It needs 1 MiB of memory, and 32 bytes for each leaf of the share.
//
// Throws a ValueError on a group of one, and a GroupError on all ranks of a larger one, if shares are not for this
// group, or sizes do not fit; and as described at Group.
template <Real T>
void ordered_sum(Group& group, const Shares& shares, std::span<T> leaves, std::span<T> sum);

// Returns the first leaf of each of the largest whole subtrees that make up the share of a rank, from left to right.
// There are at most 2 log2(leaves).
std::vector<std::int64_t> subtrees_of(const Shares& shares, int rank);

// The same sum for rank 0 alone, if each rank has added up its subtrees: rows[k] is the sum of the k-th of
// subtrees_of(shares, rank), `width` numbers, and is overwritten. The sum is added to `to` on rank 0; the other ranks
// do not look at theirs.
template <Real T>
void add_ordered_sum(Group& group, const Shares& shares, std::span<const std::span<T>> rows, std::int64_t width,
                     std::span<T> to);

}  // namespace pollen
