#include <pollen/nn/potentials/detail/item_blocks.hpp>

#include <algorithm>
#include <bit>

namespace pollen {

ItemBlocks ItemBlocks::one_leaf(std::int64_t items, std::int64_t parameters, const PassSize& pass, std::int64_t most) {
    if (parameters > most_parameters || pass.per_item == 0) return {items, 1, most};
    const std::int64_t numbers = std::max(block_numbers, times_fixed * pass.fixed);
    return {items, 1, std::min(most, std::max(least_block, numbers / pass.per_item))};
}

ItemBlocks ItemBlocks::cut(std::int64_t items, std::int64_t parameters, const PassSize& pass, std::int64_t most) {
    if (parameters > most_parameters || pass.per_item == 0) return {items, 1, most};
    const auto power_below = [](std::int64_t n) {
        return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(n)));
    };
    const std::int64_t block = one_leaf(items, parameters, pass, most).block;
    const std::int64_t blocks = std::max<std::int64_t>(1, (items + block - 1) / block);
    const auto wanted = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(blocks)));
    const std::int64_t room = std::min(most_leaves, most_gradients / std::max<std::int64_t>(1, parameters));
    return {items, std::min({wanted, power_below(room), power_below(std::max<std::int64_t>(1, items))}), block};
}

}  // namespace pollen
