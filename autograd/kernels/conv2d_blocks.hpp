#pragma once

#include <pollen/autograd/kernels/im2col.hpp>
#include <pollen/autograd/kernels/lanes.hpp>

#include <algorithm>

// How the products of a convolution are cut, for the files that compute them.
namespace pollen::kernels {

// The columns that are worked on at a time: what gemm_direct takes at once with AVX-512, and the same on every CPU,
// since the order in which numbers are added to dX depends on it.
template <class T>
constexpr std::int64_t panel = 3 * sum_lanes<T>;

// A panel of this many rows of patches stays in the first-level cache.
constexpr std::int64_t max_rows = 256;

// This many units of work keep all threads busy.
constexpr std::int64_t many = 16;

// How many products of m x k by k x n matrices make a task.
inline std::int64_t products_per_task(std::int64_t m, std::int64_t n, std::int64_t k) {
    const double flops = 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(2e6 / (flops + 1000)));
}

// Columns are counted over all images, y is stored image by image: f(where in y, which of the columns, how many).
template <class F>
void each_image(const Convolution& s, std::int64_t group, std::int64_t column, std::int64_t columns, const F& f) {
    const std::int64_t pixels = s.pixels();
    std::int64_t image = column / pixels, first = column % pixels;
    for (std::int64_t done = 0; done < columns; ++image, first = 0) {
        const std::int64_t count = std::min(pixels - first, columns - done);
        f((image * s.groups + group) * s.out * pixels + first, done, count);
        done += count;
    }
}

// What the memory of a thread is for (scratch.hpp).
struct PatchesOfThread;
struct ResultsOfThread;

}  // namespace pollen::kernels
