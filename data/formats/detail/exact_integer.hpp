#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>

namespace pollen::detail {

// Whether a T, float or double, holds the integer without rounding.
template <std::floating_point T, std::integral From>
constexpr bool holds_exactly(From value) {
    const auto size = value < From(0) ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    return size == 0 ||
           static_cast<int>(std::bit_width(size)) - std::countr_zero(size) <= std::numeric_limits<T>::digits;
}

}  // namespace pollen::detail
