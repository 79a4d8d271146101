#pragma once

#include <pollen/autograd/kernels/im2col.hpp>
#include <pollen/autograd/ops.hpp>

// The sizes of a convolution, for conv2d, conv_transpose2d and SparseConv2d.
namespace pollen {

// How many pixels a kernel covers, and how many an image has with its padding.
inline Pair covered_pixels(const Shape& w, const Pair& dilation) {
    return {(w[2] - 1) * dilation[0] + 1, (w[3] - 1) * dilation[1] + 1};
}
inline Pair padded_pixels(const Shape& x, const Pair& padding) {
    return {x[2] + 2 * padding[0], x[3] + 2 * padding[1]};
}

// The convolution of padded images with w (out channels, in channels / groups, height, width) to images of size `out`.
template <class Options>
kernels::Convolution convolution(std::int64_t batch, const Pair& padded, const Shape& w, const Pair& out,
                                 const Options& o) {
    return {.batch = batch,
            .groups = o.groups,
            .in = w[1],
            .out = w[0] / o.groups,
            .height = padded[0],
            .width = padded[1],
            .kernel_h = w[2],
            .kernel_w = w[3],
            .out_h = out[0],
            .out_w = out[1],
            .stride_h = o.stride[0],
            .stride_w = o.stride[1],
            .dilation_h = o.dilation[0],
            .dilation_w = o.dilation[1]};
}

inline kernels::Convolution convolution(const Shape& x, const Shape& w, const Conv2dOptions& o) {
    const Pair padded = padded_pixels(x, o.padding), covered = covered_pixels(w, o.dilation);
    const Pair out = {(padded[0] - covered[0]) / o.stride[0] + 1, (padded[1] - covered[1]) / o.stride[1] + 1};
    return convolution(x[0], padded, w, out, o);
}

}  // namespace pollen
