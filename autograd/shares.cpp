#include <pollen/autograd/shares.hpp>

#include <pollen/autograd/support/error.hpp>

#include <algorithm>

namespace pollen {

namespace {

constexpr std::int64_t most_leaves = std::int64_t{1} << 62;
constexpr int most_ranks = 1 << 24;

// The number in [low, high], 0 < low <= high, that the largest power of two divides.
std::int64_t roundest(std::int64_t low, std::int64_t high) {
    std::int64_t step = 1;
    while (high / (2 * step) * (2 * step) >= low) step *= 2;
    return high / step * step;
}

}  // namespace

Shares::Shares(std::vector<std::int64_t> begins) : begins_(std::move(begins)) {
    if (begins_.size() < 2)
        throw ValueError("Shares: " + std::to_string(begins_.size()) + " numbers; one share needs two, 0 and its end");
    if (begins_.size() - 1 > most_ranks || begins_.back() > most_leaves)
        throw ValueError("Shares: " + std::to_string(begins_.back()) + " leaves for " +
                         std::to_string(begins_.size() - 1) + " ranks; at most 2^62 and 2^24 are possible");
    if (begins_[0] != 0)
        throw ValueError("Shares: the first share begins at " + std::to_string(begins_[0]) + " instead of 0");
    for (std::size_t r = 1; r < begins_.size(); ++r)
        if (begins_[r] < begins_[r - 1])
            throw ValueError("Shares: the share of rank " + std::to_string(r - 1) + " begins at " +
                             std::to_string(begins_[r - 1]) + " and ends at " + std::to_string(begins_[r]));
}

// Each cut may be up to 2.5 % of a share away from where it would divide the leaves evenly.
Shares Shares::cut(std::int64_t leaves, int ranks) {
    if (leaves < 0 || leaves > most_leaves || ranks < 1 || ranks > most_ranks)
        throw ValueError("Shares::cut: " + std::to_string(leaves) + " leaves for " + std::to_string(ranks) +
                         " ranks; it takes 0 to 2^62 leaves and 1 to 2^24 ranks");
    const std::int64_t quotient = leaves / ranks, remainder = leaves % ranks, away = quotient / 40;
    std::vector<std::int64_t> begins{0};
    for (std::int64_t r = 1; r < ranks; ++r) {
        const std::int64_t even = r * quotient + r * remainder / ranks;  // rounded down
        const std::int64_t low = even - away + (r * remainder % ranks > 0 ? 1 : 0);
        begins.push_back(away > 0 ? roundest(low, even + away) : even);
    }
    begins.push_back(leaves);
    return Shares(std::move(begins));
}

int Shares::owner(std::int64_t leaf) const {
    if (leaf < 0 || leaf >= leaves())
        throw ValueError("Shares: there is no leaf " + std::to_string(leaf) + " of " + std::to_string(leaves()));
    return static_cast<int>(std::upper_bound(begins_.begin(), begins_.end(), leaf) - begins_.begin()) - 1;
}

// FNV-1a
std::uint64_t Shares::checksum() const {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const std::int64_t begin : begins_)
        for (int shift = 0; shift < 64; shift += 8)
            hash = (hash ^ (static_cast<std::uint64_t>(begin) >> shift & 255)) * 0x100000001b3u;
    return hash;
}

std::size_t Shares::checked(int rank) const {
    if (rank < 0 || rank >= ranks())
        throw ValueError("Shares: there is no rank " + std::to_string(rank) + " of " + std::to_string(ranks()));
    return static_cast<std::size_t>(rank);
}

}  // namespace pollen
