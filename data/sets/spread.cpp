#include <pollen/data/sets/spread.hpp>

#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <string>

namespace pollen {

namespace {

constexpr std::int64_t most_items = std::int64_t{1} << 40, most_blocks = 1 << 20;

// After the ranks have agreed, what is wrong is wrong on all of them.
Shares checked_shares(Group& group, std::int64_t items, std::int64_t blocks) {
    const std::string text = std::to_string(items) + " items in " + std::to_string(blocks) + " blocks";
    group.agree("the items of a Spread", text);
    if (items < 1 || items > most_items || blocks < 1 || blocks > most_blocks)
        throw ValueError("Spread: " + text + "; 1 to 2^40 items and 1 to 2^20 blocks are possible");
    if (blocks > items) throw ValueError("Spread: " + text + "; a block must have an item");
    if (blocks < group.size())
        throw ValueError("Spread: " + text + " for " + std::to_string(group.size()) +
                         " ranks; each rank must have a block");
    return Shares::cut(blocks, group.size());
}

}  // namespace

Spread::Spread(Group& group, std::int64_t items, std::int64_t blocks)
    : group_(&group), items_(items), shares_(checked_shares(group, items, blocks)) {}

std::int64_t Spread::begin(std::int64_t block) const {
    if (block < 0 || block > blocks())
        throw ValueError("Spread: there is no block " + std::to_string(block) + " of " + std::to_string(blocks()));
    return items_ * block / blocks();
}

std::int64_t Spread::block_of(std::int64_t item) const {
    if (item < 0 || item >= items_)
        throw ValueError("Spread: there is no item " + std::to_string(item) + " of " + std::to_string(items_));
    return ((item + 1) * blocks() - 1) / items_;
}

std::vector<Spread::Part> Spread::parts(std::span<const std::int64_t> batch) const {
    const std::int64_t begin_mine = shares_.first(group_->rank()), end_mine = shares_.last(group_->rank());
    std::vector<Part> parts(static_cast<std::size_t>(end_mine - begin_mine));
    std::int64_t before = 0;  // items of the batch on earlier ranks
    for (std::size_t place = 0; place < batch.size(); ++place) {
        const std::int64_t block = block_of(batch[place]);
        if (block < begin_mine) ++before;
        if (block < begin_mine || block >= end_mine) continue;
        Part& part = parts[static_cast<std::size_t>(block - begin_mine)];
        part.items.push_back(batch[place] - first());
        part.places.push_back(static_cast<std::int64_t>(place));
    }
    for (std::size_t k = 0; k < parts.size(); ++k) {
        parts[k].block = begin_mine + static_cast<std::int64_t>(k);
        parts[k].first_row = before;
        before += std::ssize(parts[k].items);
    }
    parts.erase(std::remove_if(parts.begin(), parts.end(), [](const Part& part) { return part.items.empty(); }),
                parts.end());
    return parts;
}

}  // namespace pollen
