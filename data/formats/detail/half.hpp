#pragma once

#include <bit>
#include <cstdint>

namespace pollen {

// IEEE 754 half precision, all of whose numbers a float can hold.
inline float from_half(std::uint16_t half) {
    const std::uint32_t sign = (half & 0x8000u) << 16, exponent = (half >> 10) & 0x1fu, fraction = half & 0x3ffu;
    if (exponent == 0) {
        const float size = static_cast<float>(fraction) * 0x1p-24f;
        return sign ? -size : size;
    }
    const std::uint32_t wide = exponent == 0x1f ? 0xffu : exponent + 112;
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
}

}  // namespace pollen
