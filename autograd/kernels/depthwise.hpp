#pragma once

#include <pollen/autograd/kernels/im2col.hpp>
#include <pollen/autograd/kernels/max_pool.hpp>
#include <pollen/autograd/kernels/shifted_planes.hpp>
#include <pollen/autograd/pool.hpp>

// Convolutions in groups of one or a few channels: plane by plane, without a matrix of patches and without padded
// images. Y and dX of an item do not depend on the other items. The same bits at any number of threads.
namespace pollen::kernels {

struct Depthwise {
    Convolution sizes;  // its images are padded
    std::int64_t pad_h, pad_w;

    std::int64_t height() const { return sizes.height - 2 * pad_h; }
    std::int64_t width() const { return sizes.width - 2 * pad_w; }
    std::int64_t plane() const { return height() * width(); }
};

// Whether these functions are the ones to use.
bool depthwise_use(const Convolution& s);

// The planes of x, as y and dw read them. Tables are in the calling thread's scratch memory.
ShiftedPlanes planes_of_y(const Depthwise& d, std::int64_t element_bytes);

// y = w * x, and what `finish` says.
template <class T>
void depthwise_y(const Depthwise& d, const T* x, const T* w, const Finish<T>& finish, T* y);

// beta is 0 where the result is written and 1 where it is added to what is there.
template <class T>
void depthwise_dx(const Depthwise& d, const T* dy, const T* w, T beta, T* dx);
template <class T>
void depthwise_dw(const Depthwise& d, const T* x, const T* dy, T beta, T* dw, Pool& pool);

}  // namespace pollen::kernels
