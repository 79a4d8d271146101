#pragma once

#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/kernels/strided.hpp>
#include <pollen/autograd/ops.hpp>

#include <string>

// What the ops on images (batch, channels, height, width) share.
namespace pollen {

inline std::string to_string(const Pair& pair) {
    std::string text(1, '(');
    return text.append(std::to_string(pair[0])).append(", ").append(std::to_string(pair[1])).append(")");
}

inline void check_images(const char* op, const Shape& x) {
    if (x.rank() != 4)
        throw ShapeError(std::string(op) + ": x " + to_string(x) + " has " + std::to_string(x.rank()) +
                         " axes; images are (batch, channels, height, width)");
}

// Sizes and steps stay below 2^31, so that no sum or product of two of them overflows.
inline constexpr std::int64_t max_step = 0x7fffffff;

inline void check_pair(const char* op, const char* name, const Pair& pair, std::int64_t least) {
    if (pair[0] < least || pair[1] < least || pair[0] > max_step || pair[1] > max_step)
        throw ValueError(std::string(op) + ": " + name + " " + to_string(pair) + "; both numbers must be from " +
                         std::to_string(least) + " to " + std::to_string(max_step));
}

inline void check_extent(const char* op, const char* name, const Shape& shape) {
    if (shape[2] > max_step || shape[3] > max_step)
        throw ShapeError(std::string(op) + ": " + name + " " + to_string(shape) +
                         " is too large; height and width go up to " + std::to_string(max_step));
}

// The checks that conv2d and conv_transpose2d have in common. `axes` says what the first two of w are.
template <class Options>
void check_convolution(const char* op, const char* axes, const Shape& x, const Shape& w, const Options& o) {
    check_images(op, x);
    if (w.rank() != 4)
        throw ShapeError(std::string(op) + ": w " + to_string(w) + " has " + std::to_string(w.rank()) +
                         " axes; kernels are (" + axes + ", height, width)");
    check_extent(op, "x", x);
    check_extent(op, "w", w);
    check_pair(op, "stride", o.stride, 1);
    check_pair(op, "padding", o.padding, 0);
    check_pair(op, "dilation", o.dilation, 1);
    if (o.groups < 1)
        throw ValueError(std::string(op) + ": " + std::to_string(o.groups) + " groups; at least 1 is needed");
    if (x[1] % o.groups != 0)
        throw ShapeError(std::string(op) + ": " + std::to_string(o.groups) + " groups do not divide the " +
                         std::to_string(x[1]) + " channels of x " + to_string(x));
    if (w[2] == 0 || w[3] == 0) throw ShapeError(std::string(op) + ": w " + to_string(w) + " has an empty kernel");
}

// x in the middle of a frame of zeros.
inline Shape padded_shape(const Shape& x, const Pair& padding) {
    return Shape{x[0], x[1], x[2] + 2 * padding[0], x[3] + 2 * padding[1]};
}

// Where x is inside the frame, for a copy into it or out of it.
inline kernels::StridedPlan frame_plan(const Shape& x, const Shape& padded, bool out_of) {
    const std::int64_t planes = x[0] * x[1], small = x[2] * x[3], large = padded[2] * padded[3];
    kernels::StridedPlan plan;
    plan.push(planes, out_of ? large : small, out_of ? small : large);
    plan.push(x[2], out_of ? padded[3] : x[3], out_of ? x[3] : padded[3]);
    plan.push(x[3], 1, 1);
    return plan;
}

// The padded images: x itself where there is no padding, else a copy in `room`.
template <Real T>
const T* pad_images(const T* x, const Shape& shape, const Pair& padding, Pool& pool, Tensor<T>& room) {
    if (padding == Pair{0, 0}) return x;
    const Shape padded = padded_shape(shape, padding);
    room = Tensor<T>::empty(padded, pool);
    T* to = room.fresh_data();
    kernels::map(
        padded.size(), to, [](auto v) { return v; }, kernels::Splat<T>{T(0)});
    kernels::copy_strided(frame_plan(shape, padded, false), x, to + padding[0] * padded[3] + padding[1]);
    return to;
}

// Calls write(images, beta) to put a result of the padded shape into a slot for the images without their padding.
template <Real T, class F>
void crop_images(const GradientSlot<T>& slot, const Shape& shape, const Pair& padding, Pool& pool, const F& write) {
    if (!slot) return;
    if (padding == Pair{0, 0}) return write(slot.data, slot.fresh ? T(0) : T(1));
    const Shape padded = padded_shape(shape, padding);
    Tensor<T> room = Tensor<T>::empty(padded, pool);
    write(room.fresh_data(), T(0));
    kernels::copy_strided_into(slot, frame_plan(shape, padded, true),
                               room.data() + padding[0] * padded[3] + padding[1]);
}

}  // namespace pollen
