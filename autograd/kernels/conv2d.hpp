#pragma once

#include <pollen/autograd/kernels/im2col.hpp>
#include <pollen/autograd/kernels/max_pool.hpp>
#include <pollen/autograd/pool.hpp>

// The three products of a convolution, each group by itself, X the matrix of patches (im2col.hpp) and W, Y, dY and dW
// the tensors seen as matrices:
//
//     Y = W X        dX = W' dY        dW = dY X'
//
// X and dX exist in small blocks only, which stay in the cache and belong to the thread that works on them; what all
// threads share, a few times the size of w at most, comes from the pool. beta is 0 where the result is written and 1
// where it is added to what is there. The same bits at any number of threads.
namespace pollen::kernels {

// What `finish` says is done to Y; beta is 0 then.
template <class T>
void convolve(const Convolution& s, const T* x, const T* w, T beta, T* y, const Finish<T>& finish = {});

// Numbers are added to dX panel by panel. If panels reach over the borders of images, which is faster, the last bits of
// an image's dX depend on its place in the batch. by_image is for results of a network, which may not.
enum class Panels { over_images, by_image };
template <class T>
void convolve_dx(const Convolution& s, const T* dy, const T* w, T beta, T* dx, Pool& pool,
                 Panels panels = Panels::over_images);

template <class T>
void convolve_dw(const Convolution& s, const T* x, const T* dy, T beta, T* dw, Pool& pool);

}  // namespace pollen::kernels
