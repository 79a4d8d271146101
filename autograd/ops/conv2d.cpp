#include <pollen/autograd/kernels/conv2d.hpp>
#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/ops/detail/images.hpp>

#include <string>

namespace pollen {

namespace {

std::int64_t span(std::int64_t kernel, std::int64_t dilation) { return (kernel - 1) * dilation + 1; }

// The sizes of the convolution over padded images.
kernels::Convolution sizes(const Shape& x, const Shape& w, const Conv2dOptions& o) {
    const std::int64_t height = x[2] + 2 * o.padding[0], width = x[3] + 2 * o.padding[1];
    return {.batch = x[0],
            .groups = o.groups,
            .in = w[1],
            .out = w[0] / o.groups,
            .height = height,
            .width = width,
            .kernel_h = w[2],
            .kernel_w = w[3],
            .out_h = (height - span(w[2], o.dilation[0])) / o.stride[0] + 1,
            .out_w = (width - span(w[3], o.dilation[1])) / o.stride[1] + 1,
            .stride_h = o.stride[0],
            .stride_w = o.stride[1],
            .dilation_h = o.dilation[0],
            .dilation_w = o.dilation[1]};
}

void check(const Shape& x, const Shape& w, const Conv2dOptions& o) {
    check_images("conv2d", x);
    if (w.rank() != 4)
        throw ShapeError("conv2d: w " + to_string(w) + " has " + std::to_string(w.rank()) +
                         " axes; kernels are (out channels, in channels / groups, height, width)");
    check_extent("conv2d", "x", x);
    check_extent("conv2d", "w", w);
    check_pair("conv2d", "stride", o.stride, 1);
    check_pair("conv2d", "padding", o.padding, 0);
    check_pair("conv2d", "dilation", o.dilation, 1);
    const std::string groups = std::to_string(o.groups);
    if (o.groups < 1) throw ValueError("conv2d: " + groups + " groups; at least 1 is needed");
    if (x[1] % o.groups != 0)
        throw ShapeError("conv2d: " + groups + " groups do not divide the " + std::to_string(x[1]) + " channels of x " +
                         to_string(x));
    if (w[0] % o.groups != 0)
        throw ShapeError("conv2d: " + groups + " groups do not divide the " + std::to_string(w[0]) +
                         " output channels of w " + to_string(w));
    if (w[1] != x[1] / o.groups)
        throw ShapeError("conv2d: channels differ: x " + to_string(x) + " in " + groups +
                         (o.groups == 1 ? " group" : " groups") + " by w " + to_string(w) + "; w needs " +
                         std::to_string(x[1] / o.groups) + " input channels");
    const Pair covered = {span(w[2], o.dilation[0]), span(w[3], o.dilation[1])};
    const Pair image = {x[2] + 2 * o.padding[0], x[3] + 2 * o.padding[1]};
    if (w[2] == 0 || w[3] == 0) throw ShapeError("conv2d: w " + to_string(w) + " has an empty kernel");
    if (covered[0] > image[0] || covered[1] > image[1])
        throw ShapeError("conv2d: w " + to_string(w) + " with dilation " + to_string(o.dilation) + " covers " +
                         to_string(covered) + " pixels; x " + to_string(x) + " with padding " + to_string(o.padding) +
                         " has only " + to_string(image));
}

Shape result(const Shape& x, const Shape& w, const Conv2dOptions& options) {
    check(x, w, options);
    const kernels::Convolution s = sizes(x, w, options);
    return Shape{s.batch, s.groups * s.out, s.out_h, s.out_w};
}

// With a bias, if there is a third input.
template <Real T>
void forward(Forward<T>& node, const Conv2dOptions& options) {
    const Tensor<T>&x = node.input(0), &w = node.input(1);
    Tensor<T> room;
    const T* images = pad_images(x.data(), x.shape(), options.padding, node.pool(), room);
    const T* bias = node.input_count() == 3 ? node.input(2).data() : nullptr;
    kernels::convolve(sizes(x.shape(), w.shape(), options), images, w.data(), T(0), node.value(), bias);
}

template <Real T>
void backward(Backward<T>& b, const Conv2dOptions& options) {
    const Tensor<T>&u = b.input(0), &v = b.input(1);
    const kernels::Convolution c = sizes(u.shape(), v.shape(), options);
    if (b.wants(0))
        crop_images(b.slot(0), u.shape(), options.padding, b.pool(),
                    [&](T* dx, T beta) { kernels::convolve_dx(c, b.grad(), v.data(), beta, dx, b.pool()); });
    if (const GradientSlot<T> dw = b.slot(1)) {
        Tensor<T> again;
        const T* padded = pad_images(u.data(), u.shape(), options.padding, b.pool(), again);
        kernels::convolve_dw(c, padded, b.grad(), dw.fresh ? T(0) : T(1), dw.data, b.pool());
    }
}

}  // namespace

// y = W * x + b        dL/dx += W' * dL/dy        dL/dW += dL/dy * x'        dL/db += sum of dL/dy over each channel
//
// where x stands for its matrix of patches (kernels/im2col.hpp), and W' * dL/dy is added up at the pixels that the
// patches came from.
template <Real T>
Var<T> conv2d(Var<T> x, Var<T> w, Conv2dOptions options) {
    return record(
        "conv2d", {x, w}, result(x.shape(), w.shape(), options),
        [options](Forward<T>& node) { forward(node, options); }, [options](Backward<T>& b) { backward(b, options); });
}

template <Real T>
Var<T> conv2d(Var<T> x, Var<T> w, Var<T> bias, Conv2dOptions options) {
    const Shape shape = result(x.shape(), w.shape(), options);
    if (bias.shape() != Shape{w.shape()[0]})
        throw ShapeError("conv2d: bias has shape " + to_string(bias.shape()) + " for w " + to_string(w.shape()) +
                         "; one number for each output channel, (" + std::to_string(w.shape()[0]) + "), is needed");
    return record(
        "conv2d", {x, w, bias}, shape, [options](Forward<T>& node) { forward(node, options); },
        [options](Backward<T>& b) {
            backward(b, options);
            const Shape& y = b.value().shape();
            if (const GradientSlot<T> db = b.slot(2)) kernels::sum_to(b.grad(), y, db, Shape{1, y[1], 1, 1});
        });
}

template Var<float> conv2d(Var<float>, Var<float>, Conv2dOptions);
template Var<double> conv2d(Var<double>, Var<double>, Conv2dOptions);
template Var<float> conv2d(Var<float>, Var<float>, Var<float>, Conv2dOptions);
template Var<double> conv2d(Var<double>, Var<double>, Var<double>, Conv2dOptions);

}  // namespace pollen
