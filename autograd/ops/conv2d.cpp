#include <pollen/autograd/detail/convolution.hpp>
#include <pollen/autograd/kernels/conv2d.hpp>
#include <pollen/autograd/kernels/depthwise.hpp>
#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/kernels/winograd.hpp>
#include <pollen/autograd/ops/detail/gradient_above_0.hpp>
#include <pollen/autograd/ops/detail/images.hpp>

#include <optional>
#include <string>

namespace pollen {

namespace {

void check(const Shape& x, const Shape& w, const Conv2dOptions& o) {
    check_convolution("conv2d", "out channels, in channels / groups", x, w, o);
    const std::string groups = std::to_string(o.groups);
    if (w[0] % o.groups != 0)
        throw ShapeError("conv2d: " + groups + " groups do not divide the " + std::to_string(w[0]) +
                         " output channels of w " + to_string(w));
    if (w[1] != x[1] / o.groups)
        throw ShapeError("conv2d: channels differ: x " + to_string(x) + " in " + groups +
                         (o.groups == 1 ? " group" : " groups") + " by w " + to_string(w) + "; w needs " +
                         std::to_string(x[1] / o.groups) + " input channels");
    const Pair covered = covered_pixels(w, o.dilation), image = padded_pixels(x, o.padding);
    if (covered[0] > image[0] || covered[1] > image[1])
        throw ShapeError("conv2d: w " + to_string(w) + " with dilation " + to_string(o.dilation) + " covers " +
                         to_string(covered) + " pixels; x " + to_string(x) + " with padding " + to_string(o.padding) +
                         " has only " + to_string(image));
}

Shape result(const Shape& x, const Shape& w, const Conv2dOptions& options) {
    check(x, w, options);
    const kernels::Convolution s = convolution(x, w, options);
    return Shape{s.batch, s.groups * s.out, s.out_h, s.out_w};
}

// The sizes for Winograd's algorithm; empty if the layer does not use it.
std::optional<kernels::WinogradShape> winograd_shape(const Shape& x, const Shape& w, const Conv2dOptions& o) {
    constexpr Pair one = {1, 1};
    if (o.groups != 1 || o.stride != one || o.dilation != one || w[2] != w[3]) return {};
    const kernels::WinogradShape s{.batch = x[0],
                                   .in = x[1],
                                   .out = w[0],
                                   .height = x[2],
                                   .width = x[3],
                                   .taps = w[2],
                                   .pad_h = o.padding[0],
                                   .pad_w = o.padding[1]};
    return kernels::winograd_use(s) ? std::optional(s) : std::nullopt;
}

template <Real T>
void forward(Forward<T>& node, const Conv2dOptions& options, const kernels::Finish<T>& finish) {
    const Tensor<T>&x = node.input(0), &w = node.input(1);
    if constexpr (std::same_as<T, float>)
        if (const auto s = winograd_shape(x.shape(), w.shape(), options))
            return kernels::winograd_y(*s, x.data(), w.data(), finish, node.value(), node.pool());
    const kernels::Convolution c = convolution(x.shape(), w.shape(), options);
    if (kernels::depthwise_use(c))
        return kernels::depthwise_y<T>({c, options.padding[0], options.padding[1]}, x.data(), w.data(), finish,
                                       node.value());
    Tensor<T> room;
    const T* images = pad_images(x.data(), x.shape(), options.padding, node.pool(), room);
    kernels::convolve(c, images, w.data(), T(0), node.value(), finish);
}

template <Real T>
void backward_x(Backward<T>& b, const T* dy, const Conv2dOptions& options) {
    const Shape& x = b.input(0).shape();
    const Tensor<T>& w = b.input(1);
    if constexpr (std::same_as<T, float>)
        if (const auto s = winograd_shape(x, w.shape(), options)) {
            const GradientSlot<T> dx = b.slot(0);
            return kernels::winograd_dx(*s, dy, w.data(), dx.fresh ? T(0) : T(1), dx.data, b.pool());
        }
    const kernels::Convolution c = convolution(x, w.shape(), options);
    if (kernels::depthwise_use(c)) {
        const GradientSlot<T> dx = b.slot(0);
        return kernels::depthwise_dx<T>({c, options.padding[0], options.padding[1]}, dy, w.data(),
                                        dx.fresh ? T(0) : T(1), dx.data);
    }
    crop_images(b.slot(0), x, options.padding, b.pool(),
                [&](T* dx, T beta) { kernels::convolve_dx(c, dy, w.data(), beta, dx, b.pool()); });
}

template <Real T>
void backward_w(Backward<T>& b, const T* dy, const GradientSlot<T>& dw, const Conv2dOptions& options) {
    const Tensor<T>& x = b.input(0);
    const Shape& w = b.input(1).shape();
    const T beta = dw.fresh ? T(0) : T(1);
    if constexpr (std::same_as<T, float>)
        if (const auto s = winograd_shape(x.shape(), w, options))
            return kernels::winograd_dw(*s, x.data(), dy, beta, dw.data, b.pool());
    const kernels::Convolution c = convolution(x.shape(), w, options);
    if (kernels::depthwise_use(c))
        return kernels::depthwise_dw<T>({c, options.padding[0], options.padding[1]}, x.data(), dy, beta, dw.data,
                                        b.pool());
    Tensor<T> room;
    const T* images = pad_images(x.data(), x.shape(), options.padding, b.pool(), room);
    kernels::convolve_dw(c, images, dy, beta, dw.data, b.pool());
}

template <Real T>
void backward(Backward<T>& b, const T* dy, const Conv2dOptions& options) {
    if (b.wants(0)) backward_x(b, dy, options);
    if (const GradientSlot<T> dw = b.slot(1)) backward_w(b, dy, dw, options);
    if (b.input_count() < 3) return;
    const Shape y = result(b.input(0).shape(), b.input(1).shape(), options);
    if (const GradientSlot<T> db = b.slot(2)) kernels::sum_to(dy, y, db, Shape{1, y[1], 1, 1});
}

void check_bias(const Shape& bias, const Shape& w) {
    if (bias != Shape{w[0]})
        throw ShapeError("conv2d: bias has shape " + to_string(bias) + " for w " + to_string(w) +
                         "; one number for each output channel, (" + std::to_string(w[0]) + "), is needed");
}

// Which pixels the numbers of a pooled image came from, a byte for each, in memory of the tape's pool.
template <Real T>
struct Places {
    Tensor<T> memory;
    std::uint8_t* data;

    Places(TapeState<T>& tape, std::int64_t n)
        : memory(tape.empty(Shape{(n + std::int64_t{sizeof(T)} - 1) / std::int64_t{sizeof(T)}})),
          data(reinterpret_cast<std::uint8_t*>(memory.fresh_data())) {}
};

}  // namespace

// y = W * x + b        dL/dx += W' * dL/dy        dL/dW += dL/dy * x'        dL/db += sum of dL/dy over each channel
//
// where x stands for its matrix of patches (kernels/im2col.hpp), and W' * dL/dy is added up at the pixels that the
// patches came from.
template <Real T>
Var<T> conv2d(Var<T> x, Var<T> w, Conv2dOptions options) {
    return record(
        "conv2d", {x, w}, result(x.shape(), w.shape(), options),
        [options](Forward<T>& node) { forward(node, options, {}); },
        [options](Backward<T>& b) { backward(b, b.grad(), options); });
}

template <Real T>
Var<T> conv2d(Var<T> x, Var<T> w, Var<T> bias, Conv2dOptions options) {
    const Shape shape = result(x.shape(), w.shape(), options);
    check_bias(bias.shape(), w.shape());
    return record(
        "conv2d", {x, w, bias}, shape,
        [options](Forward<T>& node) { forward(node, options, {.bias = node.input(2).data()}); },
        [options](Backward<T>& b) { backward(b, b.grad(), options); });
}

// y = max(W * x + b, 0)        dL/d(W * x + b) = dL/dy where y > 0
template <Real T>
Var<T> conv2d_relu(Var<T> x, Var<T> w, Var<T> bias, Conv2dOptions options) {
    const Shape shape = result(x.shape(), w.shape(), options);
    check_bias(bias.shape(), w.shape());
    return record(
        "conv2d_relu", {x, w, bias}, shape,
        [options](Forward<T>& node) { forward(node, options, {.bias = node.input(2).data(), .relu = true}); },
        [options](Backward<T>& b) {
            Tensor<T> room;
            backward(b, gradient_above_0(b, room), options);
        });
}

// y = the largest of each 2 x 2 numbers of max(W * x + b, 0)        dL/d(W * x + b) = dL/dy at its place where y > 0
template <Real T>
Var<T> conv2d_relu_max_pool2d(Var<T> x, Var<T> w, Var<T> bias, Conv2dOptions options) {
    const Shape sums = result(x.shape(), w.shape(), options);
    check_bias(bias.shape(), w.shape());
    if (sums[2] < 2 || sums[3] < 2)
        throw ShapeError("conv2d_relu_max_pool2d: the images to be pooled have shape " + to_string(sums) +
                         "; at least 2 x 2 pixels are needed");
    const Shape shape{sums[0], sums[1], sums[2] / 2, sums[3] / 2};
    const Places<T> places(x.state(), shape.size());
    return record(
        "conv2d_relu_max_pool2d", {x, w, bias}, shape,
        [options, places](Forward<T>& node) {
            forward(node, options,
                    {.bias = node.input(2).data(), .relu = true, .max_pool = true, .places = places.data});
        },
        [options, places](Backward<T>& b) {
            const Shape before = result(b.input(0).shape(), b.input(1).shape(), options);
            Tensor<T> room, full = b.scratch(before);
            const T* g = gradient_above_0(b, room);
            kernels::to_places(before[0] * before[1], before[2], before[3], g, places.data, full.fresh_data());
            backward(b, full.data(), options);
        });
}

#define POLLEN_INSTANTIATE_CONV2D(T)                                    \
    template Var<T> conv2d(Var<T>, Var<T>, Conv2dOptions);              \
    template Var<T> conv2d(Var<T>, Var<T>, Var<T>, Conv2dOptions);      \
    template Var<T> conv2d_relu(Var<T>, Var<T>, Var<T>, Conv2dOptions); \
    template Var<T> conv2d_relu_max_pool2d(Var<T>, Var<T>, Var<T>, Conv2dOptions);
POLLEN_INSTANTIATE_CONV2D(float)
POLLEN_INSTANTIATE_CONV2D(double)
#undef POLLEN_INSTANTIATE_CONV2D

}  // namespace pollen
