#pragma once

#include <cstdint>

// Max pooling with windows of 2 x 2 pixels that do not overlap. A last odd row or column is left out.
namespace pollen::kernels {

// What a convolution does to its sums z before it stores them: z + bias; with relu max(0, z + bias), in which NaN
// passes; with max_pool the largest number of each window of that.
template <class T>
struct Finish {
    const T* bias = nullptr;  // one number for each output channel
    bool relu = false;
    bool max_pool = false;
    // With max_pool: which pixel each number came from. 0 and 1 are the upper ones, 2 and 3 the lower ones. The first
    // of equal numbers is taken. If there are NaNs, the last NaN is taken.
    std::uint8_t* places = nullptr;
};

// x = max(0, x). NaN passes.
template <class T>
void relu_in_place(std::int64_t n, T* x);

// The largest numbers of n windows, in two lines of 2 n numbers, and their places.
template <class T>
void largest_of_four(std::int64_t n, const T* top, const T* bottom, T* y, std::uint8_t* places);

// The derivative: images dx of height x width pixels, g at the place of each window and 0 elsewhere.
template <class T>
void to_places(std::int64_t images, std::int64_t height, std::int64_t width, const T* g, const std::uint8_t* places,
               T* dx);

}  // namespace pollen::kernels
