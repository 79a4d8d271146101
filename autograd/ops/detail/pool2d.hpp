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

// The op of one kind of pooling. Pool has for the usual case of two rows and for one window (i, j) of a plane of x
//     halve(n, top, bottom, y)                                     halve_dx<add>(n, top, bottom, g, dx_top, dx_bottom)
//     window(windows, x, i, j), which returns y                    window_dx(windows, x, g, dx, i, j), which adds to dx
template <Real T, class Pool>
void pool_forward(const Windows& s, const T* x, T* y) {
    s.each_plane([&](std::int64_t plane) {
        const T* from = x + plane * s.height * s.width;
        T* to = y + plane * s.out_h * s.out_w;
        for (std::int64_t i = 0; i < s.out_h; ++i, to += s.out_w) {
            if (s.halves())
                Pool::halve(s.out_w, from + 2 * i * s.width, from + (2 * i + 1) * s.width, to);
            else
                for (std::int64_t j = 0; j < s.out_w; ++j) to[j] = Pool::window(s, from, i, j);
        }
    });
}

template <Real T, class Pool>
void pool_backward(const Windows& s, const T* x, const T* g, const GradientSlot<T>& slot) {
    s.each_plane([&](std::int64_t plane) {
        const T* from = x + plane * s.height * s.width;
        const T* grad = g + plane * s.out_h * s.out_w;
        T* to = slot.data + plane * s.height * s.width;
        const bool tiled = s.halves() && s.height % 2 == 0 && s.width % 2 == 0;  // every number is in one window
        if (slot.fresh && !tiled) std::fill_n(to, s.height * s.width, T(0));
        for (std::int64_t i = 0; i < s.out_h; ++i, grad += s.out_w) {
            if (s.halves()) {
                const std::int64_t top = 2 * i * s.width, bottom = top + s.width;
                const auto rows = slot.fresh ? Pool::template halve_dx<false> : Pool::template halve_dx<true>;
                rows(s.out_w, from + top, from + bottom, grad, to + top, to + bottom);
            } else {
                for (std::int64_t j = 0; j < s.out_w; ++j) Pool::window_dx(s, from, grad[j], to, i, j);
            }
        }
    });
}

template <Real T, class Pool>
Var<T> pool2d(const char* name, Var<T> x, const Pool2dOptions& options) {
    const Shape& shape = x.shape();
    check_pool(name, shape, options);
    const Windows s = windows(shape, options);
    const auto evaluate = [options](Forward<T>& node) {
        pool_forward<T, Pool>(windows(node.input(0).shape(), options), node.input(0).data(), node.value());
    };
    return record(name, {x}, Shape{shape[0], shape[1], s.out_h, s.out_w}, evaluate, [options](Backward<T>& b) {
        if (const GradientSlot<T> slot = b.slot(0))
            pool_backward<T, Pool>(windows(b.input(0).shape(), options), b.input(0).data(), b.grad(), slot);
    });
}

}  // namespace pollen
