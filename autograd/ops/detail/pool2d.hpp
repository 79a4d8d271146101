#pragma once

#include <pollen/autograd/ops/detail/images.hpp>
#include <pollen/autograd/parallel.hpp>

#include <algorithm>

// What max_pool2d and avg_pool2d share: windows of size_h x size_w pixels, stride_h and stride_w apart, over every
// image of every channel.
namespace pollen {

struct Windows {
    std::int64_t planes, height, width, out_h, out_w;
    std::int64_t size_h, size_w, stride_h, stride_w, padding_h, padding_w;

    // Two by two pixels without overlap: the usual case, for which there are loops of its own.
    bool halves() const {
        return size_h == 2 && size_w == 2 && stride_h == 2 && stride_w == 2 && padding_h == 0 && padding_w == 0;
    }

    // The rows and columns of x in window (i, j), without the padding.
    struct Range {
        std::int64_t begin, end;
    };
    Range rows(std::int64_t i) const { return clip(i * stride_h - padding_h, size_h, height); }
    Range columns(std::int64_t j) const { return clip(j * stride_w - padding_w, size_w, width); }

    // f(plane) for every plane, in parallel.
    template <class F>
    void each_plane(const F& f) const {
        const std::int64_t grain = kernels::map_grain / std::max<std::int64_t>(1, height * width) + 1;
        parallel_for(planes, grain, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t plane = begin; plane < end; ++plane) f(plane);
        });
    }

  private:
    static Range clip(std::int64_t first, std::int64_t size, std::int64_t limit) {
        return {std::max<std::int64_t>(0, first), std::min(limit, first + size)};
    }
};

// A stride of 0 stands for the size.
inline Windows windows(const Shape& x, const Pool2dOptions& o) {
    const std::int64_t stride_h = o.stride[0] ? o.stride[0] : o.size[0],
                       stride_w = o.stride[1] ? o.stride[1] : o.size[1];
    return {.planes = x[0] * x[1],
            .height = x[2],
            .width = x[3],
            .out_h = (x[2] + 2 * o.padding[0] - o.size[0]) / stride_h + 1,
            .out_w = (x[3] + 2 * o.padding[1] - o.size[1]) / stride_w + 1,
            .size_h = o.size[0],
            .size_w = o.size[1],
            .stride_h = stride_h,
            .stride_w = stride_w,
            .padding_h = o.padding[0],
            .padding_w = o.padding[1]};
}

// With at most half a window of padding every window holds a pixel.
inline void check_pool(const char* op, const Shape& x, const Pool2dOptions& o) {
    check_images(op, x);
    check_extent(op, "x", x);
    check_pair(op, "size", o.size, 1);
    check_pair(op, "stride", o.stride, 0);
    check_pair(op, "padding", o.padding, 0);
    if (2 * o.padding[0] > o.size[0] || 2 * o.padding[1] > o.size[1])
        throw ValueError(std::string(op) + ": padding " + to_string(o.padding) + " is more than half of size " +
                         to_string(o.size));
    const Pair image = {x[2] + 2 * o.padding[0], x[3] + 2 * o.padding[1]};
    if (o.size[0] > image[0] || o.size[1] > image[1])
        throw ShapeError(std::string(op) + ": size " + to_string(o.size) + " is larger than x " + to_string(x) +
                         " with padding " + to_string(o.padding) + ", which has " + to_string(image) + " pixels");
}

}  // namespace pollen
