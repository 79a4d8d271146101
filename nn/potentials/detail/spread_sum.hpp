#pragma once

#include <pollen/autograd/detail/subtree_sums.hpp>
#include <pollen/autograd/ordered_sum.hpp>
#include <pollen/data/sets/spread.hpp>
#include <pollen/nn/potentials/detail/item_blocks.hpp>
#include <pollen/nn/potentials/itemwise_potential.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace pollen {

// U and its gradient, of items that are spread over the ranks of a group.
template <Real T>
class SpreadSum {
  public:
    SpreadSum(ItemwisePotential<T>& part, const Spread& spread) : part_(part), spread_(spread) {}

    // A call of the whole group: U~ of a batch of the items, or U if the batch is empty. Rank 0 has the energy, and the
    // gradient if it is wanted. Throws as Group::together() does.
    Energy operator()(std::span<const T> theta, bool wanted, std::span<T> gradient, std::span<const std::int64_t> batch,
                      double temperature) {
        Group& group = spread_.group();
        const std::int64_t width = wanted ? std::ssize(theta) : 0;
        Energy energy;
        Shares shares = spread_.shares();
        std::vector<std::span<double>> numbers;
        std::vector<std::span<T>> rows;
        group.together([&] {
            if (group.rank() == 0) {
                part_.set_temperature(temperature);
                energy.prior = part_.prior(theta, gradient);
            }
            if (!batch.empty()) shares = shares_of(batch);
            sums_.begin(shares, group.rank(), width);
            if (batch.empty())
                add_all(theta);
            else
                add_batch(theta, batch);
            numbers = sums_.numbers();
            if (wanted) rows = sums_.rows();
        });
        add_ordered_sum<double>(group, shares, numbers, 1, std::span(&energy.likelihood, 1));
        if (wanted) add_ordered_sum<T>(group, shares, rows, width, gradient);
        return energy;
    }

  private:
    // Adds `count` leaves, as many at once as there may be gradients. items(k) are those of the k-th.
    template <class ItemsOf>
    void add(std::int64_t count, std::span<const T> theta, double scale, const ItemsOf& items) {
        const std::int64_t room = ItemBlocks::most_gradients / std::max<std::int64_t>(1, part_.size());
        const std::int64_t most = part_.large() ? 1 : std::clamp<std::int64_t>(room, 1, ItemBlocks::most_leaves);
        for (std::int64_t done = 0; done < count; done += most)
            sums_.add(std::min(most, count - done), [&](std::int64_t k, std::span<T> to) {
                const auto& of_leaf = items(done + k);
                return part_.likelihood(theta, of_leaf, scale, to);
            });
    }

    void add_all(std::span<const T> theta) {
        const int rank = spread_.group().rank();
        const std::int64_t first = spread_.shares().first(rank);
        add(spread_.shares().count(rank), theta, 1, [&](std::int64_t k) {
            const std::int64_t begin = spread_.begin(first + k), end = spread_.begin(first + k + 1);
            std::vector<std::int64_t> items(static_cast<std::size_t>(end - begin));
            std::iota(items.begin(), items.end(), begin - spread_.first());
            return items;
        });
    }

    void add_batch(std::span<const T> theta, std::span<const std::int64_t> batch) {
        const std::vector<Spread::Part> parts = spread_.parts(batch);
        const double scale = static_cast<double>(spread_.items()) / static_cast<double>(batch.size());
        add(std::ssize(parts), theta, scale, [&](std::int64_t k) -> const std::vector<std::int64_t>& {
            return parts[static_cast<std::size_t>(k)].items;
        });
    }

    // The leaves of a batch are the blocks that have items of it.
    Shares shares_of(std::span<const std::int64_t> batch) const {
        std::vector<char> used(static_cast<std::size_t>(spread_.blocks()));
        for (const std::int64_t item : batch) used[static_cast<std::size_t>(spread_.block_of(item))] = 1;
        const Shares& all = spread_.shares();
        std::vector<std::int64_t> begins{0};
        for (int rank = 0; rank < all.ranks(); ++rank)
            begins.push_back(begins.back() +
                             std::count(used.begin() + all.first(rank), used.begin() + all.last(rank), 1));
        return Shares(std::move(begins));
    }

    ItemwisePotential<T>& part_;
    const Spread spread_;
    SubtreeSums<T> sums_;
};

}  // namespace pollen
