#pragma once

#include <cstdint>

namespace pollen::detail {

// x . y in double, in an order that depends on n alone: eight sums side by side, so that the additions do not wait for
// each other.
template <class T>
double dot(std::int64_t n, const T* x, const T* y) {
    double sums[8] = {};
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; ++k) sums[k] += static_cast<double>(x[i + k]) * static_cast<double>(y[i + k]);
    for (int k = 0; i < n; ++i, ++k) sums[k] += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

}  // namespace pollen::detail
