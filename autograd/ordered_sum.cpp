#include <pollen/autograd/ordered_sum.hpp>

#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/parallel.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace pollen {

namespace {

// What a rank does for one node of the tree: the sum of its left part is at leaf `left`, that of its right part at leaf
// `right`, and the sum of both is to be at `left`. Each part is on the rank that has this leaf.
struct Node {
    enum { add, send, receive } what;
    std::int64_t left, right;
    int peer;  // to whom the right part is sent, or from whom it is received
};

struct Plan {
    std::vector<Node> own;     // with all leaves in the share
    std::vector<Node> shared;  // the others, whose right parts cross from rank to rank or contain what did
};

// The nodes of tree_sum() that concern a rank, in an order in which all ranks can go through theirs: by their level,
// and from left to right.
Plan plan_for(const Shares& shares, int rank) {
    const std::int64_t all = shares.leaves(), first = shares.first(rank), last = shares.last(rank);
    Plan plan;
    if (first == last) return plan;
    for (std::int64_t step = 1; step < all; step *= 2)
        for (std::int64_t i = first / (2 * step) * (2 * step); i < last && i + step < all; i += 2 * step) {
            const std::int64_t j = i + step;
            if (i >= first && std::min(j + step, all) <= last)
                plan.own.push_back({Node::add, i, j, rank});
            else if (i >= first && j < last)
                plan.shared.push_back({Node::add, i, j, rank});
            else if (i >= first)
                plan.shared.push_back({Node::receive, i, j, shares.owner(j)});
            else if (j >= first && j < last)
                plan.shared.push_back({Node::send, i, j, shares.owner(i)});
        }
    return plan;
}

template <Real T>
void add_to(T* sum, const T* x, std::int64_t n) {
    kernels::map_serial(
        n, sum, [](const auto& a, const auto& b) { return a + b; }, kernels::Stream<T>{sum}, kernels::Stream<T>{x});
}

// What is wrong with the arguments on this rank; nothing if all is well.
std::string fault(const Group& group, const Shares& shares, std::size_t numbers, std::size_t width) {
    if (shares.ranks() != group.size())
        return "ordered_sum: shares for " + std::to_string(shares.ranks()) + " ranks; the group has " +
               std::to_string(group.size());
    const auto count = static_cast<std::size_t>(shares.count(group.rank()));
    // Not count * width, which may be too large for its type.
    if (width == 0 ? numbers != 0 : numbers / width != count || numbers % width != 0)
        return "ordered_sum: " + std::to_string(numbers) + " numbers for a share of " + std::to_string(count) +
               " leaves of " + std::to_string(width) + " numbers each";
    return "";
}

}  // namespace

template <Real T>
void ordered_sum(Group& group, const Shares& shares, std::span<T> leaves, std::span<T> sum) {
    constexpr std::int64_t stretch = 4096;                 // of a row: the tree over it stays in the cache
    constexpr std::int64_t piece = (1 << 20) / sizeof(T);  // of a row: what is sent at once
    const std::string wrong = fault(group, shares, leaves.size(), sum.size());
    const auto width = static_cast<std::int64_t>(sum.size());
    const Plan plan = wrong.empty() && width > 0 ? plan_for(shares, group.rank()) : Plan();
    const std::int64_t first = wrong.empty() ? shares.first(group.rank()) : 0;
    const auto row = [&](std::int64_t leaf) { return leaves.data() + (leaf - first) * width; };

    parallel_for(plan.own.empty() ? 0 : width, stretch, [&](std::int64_t begin, std::int64_t end) {
        for (const Node& node : plan.own) add_to(row(node.left) + begin, row(node.right) + begin, end - begin);
    });

    const bool receives = std::any_of(plan.shared.begin(), plan.shared.end(),
                                      [](const Node& node) { return node.what == Node::receive; });
    std::vector<T> received(receives ? static_cast<std::size_t>(std::min(width, piece)) : 0);
    const bool whole = shares.leaves() > 0 && first == 0 && shares.count(group.rank()) > 0;  // the sum of all is here

    std::string what;
    if (group.size() > 1)
        what = "ordered_sum of " + std::to_string(shares.leaves()) + " leaves of " + std::to_string(width) +
               (sizeof(T) == 4 ? " floats" : " doubles") + " in shares with the checksum " +
               std::to_string(shares.checksum());
    Group::Call call(group, what, wrong);
    for (std::int64_t begin = 0; begin < width; begin += piece) {
        const std::int64_t n = std::min(piece, width - begin);
        for (const Node& node : plan.shared) {
            if (node.what == Node::send) {
                call.send(node.peer, std::as_bytes(std::span(row(node.right) + begin, static_cast<std::size_t>(n))));
                continue;
            }
            T* right = node.what == Node::add ? row(node.right) + begin : received.data();
            if (node.what == Node::receive)
                call.receive(node.peer, std::as_writable_bytes(std::span(right, static_cast<std::size_t>(n))));
            add_to(row(node.left) + begin, right, n);
        }
    }
    if (shares.leaves() == 0) std::fill(sum.begin(), sum.end(), T(0));
    if (whole && sum.data() != row(0)) std::copy_n(row(0), width, sum.begin());
    if (shares.leaves() > 0) call.broadcast(shares.owner(0), std::as_writable_bytes(sum));
}

template void ordered_sum(Group&, const Shares&, std::span<float>, std::span<float>);
template void ordered_sum(Group&, const Shares&, std::span<double>, std::span<double>);

}  // namespace pollen
