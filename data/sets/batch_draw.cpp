#include <pollen/data/sets/batch_draw.hpp>

#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <bit>
#include <string>

namespace pollen {

// For j = items - n, ..., items - 1:  t uniform from 0, ..., j;  take t, or j if t was taken before.
void BatchDraw::operator()(Random& random, std::int64_t n, std::int64_t items, std::vector<std::int64_t>& out) {
    if (n < 1 || n > items)
        throw ValueError("BatchDraw: a batch of " + std::to_string(n) + " out of " + std::to_string(items) +
                         " items; it must have at least 1 and at most all of them");
    if (items > std::int64_t{1} << 32)
        throw ValueError("BatchDraw: " + std::to_string(items) + " items; at most 2^32 can be drawn from");
    const std::uint64_t size = std::bit_ceil(2 * static_cast<std::uint64_t>(n));
    const int shift = 64 - std::countr_zero(size);
    if (table_.size() < size) detail::resize(table_, size, "BatchDraw");
    std::fill_n(table_.begin(), size, -1);
    // Takes an item unless it is there already.
    const auto take = [&](std::int64_t item) {
        std::uint64_t k = (static_cast<std::uint64_t>(item) * 0x9E3779B97F4A7C15u) >> shift;
        for (; table_[k] >= 0; k = (k + 1) & (size - 1))
            if (table_[k] == item) return false;
        table_[k] = item;
        return true;
    };
    detail::resize(out, static_cast<std::size_t>(n), "BatchDraw");
    for (std::int64_t j = items - n, i = 0; j < items; ++j, ++i) {
        std::int64_t item = random.below(static_cast<std::uint64_t>(j) + 1);
        if (!take(item)) take(item = j);
        out[static_cast<std::size_t>(i)] = item;
    }
}

}  // namespace pollen
