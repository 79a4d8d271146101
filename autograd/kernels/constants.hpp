#pragma once

// Logarithms that densities need, to all digits of a double.
namespace pollen::kernels {

inline constexpr double log_2 = 0.69314718055994530942;
inline constexpr double log_pi = 1.14472988584940017414;
inline constexpr double log_2_over_pi = -0.45158270528945486473;
inline constexpr double log_sqrt_2pi = 0.91893853320467274178;
inline constexpr double log_sqrt_half_pi = 0.22579135264472743236;

}  // namespace pollen::kernels
