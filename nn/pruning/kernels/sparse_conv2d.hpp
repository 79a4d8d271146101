#pragma once

#include <pollen/autograd/kernels/im2col.hpp>
#include <pollen/nn/pruning/sparse_pattern.hpp>

// Convolutions with sparse kernels W (groups out, in kernel_h kernel_w), directly (Park et al. 2017): an image lies in
// memory with its padding, so that for each number of W what it multiplies is the image itself, moved by some offset,
// and one vector of it makes neighbouring pixels of y. Nothing is ever put into a matrix of patches.
//
// A pixel of y has the place of its patch's first pixel. With strides, places that no pixel has are computed along and
// left out; between two rows of y nothing is computed.
namespace pollen::kernels {

// s.height and s.width are those of the padded images; x and dx are without padding.
struct SparseConvolution {
    Convolution s;
    std::int64_t pad_h, pad_w;
};

// As in sparse.hpp: y = W * x + b, dx = W' * dy, dv = dy * x' at the places of W.
template <class T>
void sparse_convolve(const SparseConvolution& c, const SparsePattern& w, const T* values, const T* x, const T* bias,
                     T* y);

template <class T>
void sparse_convolve_dx(const SparseConvolution& c, const SparsePattern& w, const T* values, const T* dy, T beta,
                        T* dx);

template <class T>
void sparse_convolve_dvalues(const SparseConvolution& c, const SparsePattern& w, const T* dy, const T* x, T beta,
                             T* dv);

}  // namespace pollen::kernels
