#include <pollen/autograd/ordered_sum.hpp>

#include <pollen/autograd/detail/subtree_sums.hpp>
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
    plan.own.reserve(static_cast<std::size_t>(last - first));
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

std::string wrong_group(const char* function, const Group& group, const Shares& shares) {
    return shares.ranks() == group.size() ? ""
                                          : std::string(function) + ": shares for " + std::to_string(shares.ranks()) +
                                                " ranks; the group has " + std::to_string(group.size());
}

// What is wrong with the arguments on this rank; nothing if all is well.
std::string fault(const Group& group, const Shares& shares, std::size_t numbers, std::size_t width) {
    if (shares.ranks() != group.size()) return wrong_group("ordered_sum", group, shares);
    const auto count = static_cast<std::size_t>(shares.count(group.rank()));
    // Not count * width, which may be too large for its type.
    if (width == 0 ? numbers != 0 : numbers / width != count || numbers % width != 0)
        return "ordered_sum: " + std::to_string(numbers) + " numbers for a share of " + std::to_string(count) +
               " leaves of " + std::to_string(width) + " numbers each";
    return "";
}

constexpr std::int64_t stretch = 4096;  // of a row: the tree over it stays in the cache
template <Real T>
constexpr std::int64_t piece = (1 << 20) / sizeof(T);  // of a row: what is sent at once

// The room for what is received.
template <Real T>
std::vector<T> room_for(const std::vector<Node>& nodes, bool more, std::int64_t width) {
    const bool receives =
        more || std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.what == Node::receive; });
    return std::vector<T>(receives ? static_cast<std::size_t>(std::min(width, piece<T>)) : 0);
}

// The name of the call.
template <Real T>
std::string name_of(const Group& group, const char* function, const Shares& shares, std::int64_t width) {
    if (group.size() == 1) return "";
    return std::string(function) + " of " + std::to_string(shares.leaves()) + " leaves of " + std::to_string(width) +
           (sizeof(T) == 4 ? " floats" : " doubles") + " in shares with the checksum " +
           std::to_string(shares.checksum());
}

// Goes through the nodes for n numbers of each row. row(leaf) points to the first of them.
template <Real T, class Row>
void add_up(Group::Call& call, const std::vector<Node>& nodes, std::int64_t n, T* received, const Row& row) {
    const auto bytes = static_cast<std::size_t>(n);
    for (const Node& node : nodes) {
        if (node.what == Node::send) {
            call.send(node.peer, std::as_bytes(std::span<const T>(row(node.right), bytes)));
            continue;
        }
        T* right = node.what == Node::add ? row(node.right) : received;
        if (node.what == Node::receive) call.receive(node.peer, std::as_writable_bytes(std::span(right, bytes)));
        add_to(row(node.left), right, n);
    }
}

}  // namespace

template <Real T>
void ordered_sum(Group& group, const Shares& shares, std::span<T> leaves, std::span<T> sum) {
    const std::string wrong = fault(group, shares, leaves.size(), sum.size());
    const auto width = static_cast<std::int64_t>(sum.size());
    const Plan plan = wrong.empty() && width > 0 ? plan_for(shares, group.rank()) : Plan();
    const std::int64_t first = wrong.empty() ? shares.first(group.rank()) : 0;
    const auto row = [&](std::int64_t leaf) { return leaves.data() + (leaf - first) * width; };

    parallel_for(plan.own.empty() ? 0 : width, stretch, [&](std::int64_t begin, std::int64_t end) {
        for (const Node& node : plan.own) add_to(row(node.left) + begin, row(node.right) + begin, end - begin);
    });

    std::vector<T> received = room_for<T>(plan.shared, false, width);
    const bool whole = wrong.empty() && first == 0 && shares.count(group.rank()) > 0;  // the sum of all is here
    Group::Call call(group, name_of<T>(group, "ordered_sum", shares, width), wrong);
    for (std::int64_t begin = 0; begin < width; begin += piece<T>)
        add_up(call, plan.shared, std::min(piece<T>, width - begin), received.data(),
               [&](std::int64_t leaf) { return row(leaf) + begin; });
    if (shares.leaves() == 0) std::fill(sum.begin(), sum.end(), T(0));
    if (whole && sum.data() != row(0)) std::copy_n(row(0), width, sum.begin());
    if (shares.leaves() > 0) call.broadcast(shares.owner(0), std::as_writable_bytes(sum));
}

// A subtree grows to that of its parent if it is the left part and the right part is in the share, too.
std::vector<std::int64_t> subtrees_of(const Shares& shares, int rank) {
    const std::int64_t all = shares.leaves(), last = shares.last(rank);
    std::vector<std::int64_t> begins;
    for (std::int64_t begin = shares.first(rank), step = 1; begin < last; begin += step, step = 1) {
        begins.push_back(begin);
        while (begin % (2 * step) == 0 && begin + step < last && std::min(begin + 2 * step, all) <= last) step *= 2;
    }
    return begins;
}

template <Real T>
void add_ordered_sum(Group& group, const Shares& shares, std::span<const std::span<T>> rows, std::int64_t width,
                     std::span<T> to) {
    std::string wrong = wrong_group("add_ordered_sum", group, shares);
    const std::vector<std::int64_t> begins =
        wrong.empty() ? subtrees_of(shares, group.rank()) : std::vector<std::int64_t>();
    const auto fits = [&](std::span<T> numbers) { return std::ssize(numbers) == width; };
    if (wrong.empty() && (rows.size() != begins.size() || !std::all_of(rows.begin(), rows.end(), fits) ||
                          (group.rank() == 0 && !fits(to))))
        wrong = "add_ordered_sum: " + std::to_string(begins.size()) + " row" + (begins.size() == 1 ? "" : "s") +
                " of " + std::to_string(width) + " numbers needed, and on rank 0 as many numbers to add them to";
    const Plan plan = wrong.empty() && width > 0 ? plan_for(shares, group.rank()) : Plan();
    const int owner = wrong.empty() && shares.leaves() > 0 ? shares.owner(0) : 0;
    const auto row = [&](std::int64_t leaf) {
        return rows[static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end(), leaf) - begins.begin())]
            .data();
    };

    std::vector<T> received = room_for<T>(plan.shared, owner > 0 && group.rank() == 0, width);
    Group::Call call(group, name_of<T>(group, "add_ordered_sum", shares, width), wrong);
    for (std::int64_t begin = 0; begin < width && shares.leaves() > 0; begin += piece<T>) {
        const std::int64_t n = std::min(piece<T>, width - begin);
        const auto part = [&](T* numbers) { return std::span(numbers, static_cast<std::size_t>(n)); };
        add_up(call, plan.shared, n, received.data(), [&](std::int64_t leaf) { return row(leaf) + begin; });
        if (owner > 0 && group.rank() == owner) call.send(0, std::as_bytes(part(row(0) + begin)));
        if (group.rank() > 0) continue;
        if (owner > 0) call.receive(owner, std::as_writable_bytes(part(received.data())));
        add_to(to.data() + begin, owner > 0 ? received.data() : row(0) + begin, n);
    }
}

template void ordered_sum(Group&, const Shares&, std::span<float>, std::span<float>);
template void ordered_sum(Group&, const Shares&, std::span<double>, std::span<double>);
template void add_ordered_sum(Group&, const Shares&, std::span<const std::span<float>>, std::int64_t, std::span<float>);
template void add_ordered_sum(Group&, const Shares&, std::span<const std::span<double>>, std::int64_t,
                              std::span<double>);

}  // namespace pollen
