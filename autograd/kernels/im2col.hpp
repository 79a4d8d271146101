#pragma once

#include <cstdint>
#include <span>

namespace pollen::kernels {

// The sizes of a convolution of images x (batch, groups in, height, width) with kernels w (groups out, in, kernel_h,
// kernel_w) into images y (batch, groups out, out_h, out_w):
//
//     y[n, o, i, j] = sum_{c, u, v} x[n, c, i stride_h + u dilation_h, j stride_w + v dilation_w] w[o, c, u, v]
//
// where each group of channels of x has its own group of y. Images are padded beforehand: no index leaves x.
struct Convolution {
    std::int64_t batch, groups, in, out;
    std::int64_t height, width, kernel_h, kernel_w, out_h, out_w;
    std::int64_t stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;

    std::int64_t taps() const { return kernel_h * kernel_w; }
    std::int64_t pixels() const { return out_h * out_w; }
    std::int64_t plane() const { return height * width; }
    std::int64_t image() const { return groups * in * plane(); }
};

// A convolution is a product with the matrix of patches: its row (c, u, v) and column (n, i, j) hold the number that
// w[o, c, u, v] multiplies in y[n, o, i, j]. The matrix is large, so only blocks of it are ever made: the rows of some
// channels of one group, and some columns, counted over all images.
struct PatchBlock {
    std::int64_t channel = 0, channels = 0;  // channels of x, counted over all groups
    std::int64_t column = 0, columns = 0;    // at most max_columns
    static constexpr std::int64_t max_columns = 256;
};

// Where a row of a block is, and how far its numbers are in x from those of the block's first row.
struct PatchRow {
    std::int64_t row, x;
};

// The rows of a block of `channels` channels, into `rows`, which has room for channels * s.taps().
void patch_rows(const Convolution& s, std::int64_t channels, PatchRow* rows);

// Writes a block of the matrix of patches to `out`, its rows ld apart.
template <class T>
void im2col(const Convolution& s, const PatchBlock& block, const PatchRow* rows, const T* x, T* out, std::int64_t ld);

// The transpose of that map: adds every number of a block to the number of x that it stands for.
template <class T>
void col2im(const Convolution& s, const PatchBlock& block, const PatchRow* rows, const T* in, std::int64_t ld, T* x);

}  // namespace pollen::kernels
