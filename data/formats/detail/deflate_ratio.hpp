#pragma once

#include <cstdint>

namespace pollen::detail {

// Deflate makes at most 1032 bytes of one; a file that promises more is lying.
inline constexpr std::uint64_t max_deflate_ratio = 1100;

}  // namespace pollen::detail
