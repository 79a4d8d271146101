#pragma once

#include <cstdint>

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
    std::int64_t depth() const { return in * taps(); }
    std::int64_t pixels() const { return out_h * out_w; }
    std::int64_t columns() const { return batch * pixels(); }
    std::int64_t plane() const { return height * width; }
    std::int64_t image() const { return groups * in * plane(); }
};

// A convolution is a product with the matrix of patches: its row (c, u, v) and column (n, i, j) hold the number that
// w[o, c, u, v] multiplies in y[n, o, i, j]. The matrix is large, so only blocks of it are ever made: some rows of one
// group, and some columns, counted over all images.
struct RowBlock {
    struct Row {
        std::int64_t block,
            x;  // how far the row is in the block, and its numbers are in x, from those of the first row
    };
    std::int64_t row, rows;  // which rows of the group's matrix
    std::int64_t x;          // where in an image the numbers of the first row start
    const Row* table;        // rows of them
};

// How the rows are cut into blocks: by channels, and where one channel alone has too many rows, by lines of the kernel.
// For col2im the rows are not in ascending order, see there.
class RowBlocks {
  public:
    enum class Order { ascending, spread };

    // The rows of a block will be ld apart. Blocks have at most max_rows rows, if a line of the kernel has no more.
    RowBlocks(const Convolution& s, std::int64_t max_rows, std::int64_t ld, Order order);

    std::int64_t channels() const { return channels_; }  // of a block
    std::int64_t channel_blocks() const { return (s_.in + channels_ - 1) / channels_; }
    std::int64_t cuts() const { return (s_.kernel_h + lines_ - 1) / lines_; }  // of one of these
    std::int64_t rows() const { return channels_ * lines_ * s_.kernel_w; }     // of the largest block

    RowBlock operator()(std::int64_t group, std::int64_t channel_block, std::int64_t cut) const;

  private:
    void fill(std::int64_t channels, std::int64_t lines, std::int64_t ld, Order order, RowBlock::Row* row) const;

    const Convolution& s_;
    std::int64_t channels_, lines_;
    const RowBlock::Row* table_;  // of a whole block, and of the last one; in the calling thread's scratch memory
};

// Writes a block of the matrix of patches to `out`: `columns` columns from `column` on.
template <class T>
void im2col(const Convolution& s, const RowBlock& block, std::int64_t column, std::int64_t columns, const T* x, T* out);

// The transpose of that map: adds every number of a block to the number of x that it stands for.
template <class T>
void col2im(const Convolution& s, const RowBlock& block, std::int64_t column, std::int64_t columns, const T* in, T* x);

}  // namespace pollen::kernels
