#include <pollen/autograd/detail/convolution.hpp>
#include <pollen/autograd/kernels/conv2d.hpp>
#include <pollen/autograd/ops/detail/images.hpp>

#include <string>

namespace pollen {

namespace {

// The result without its padding: (n - 1) stride + (kernel - 1) dilation + 1 + output_padding - 2 padding pixels.
Shape result(const Shape& x, const Shape& w, const ConvTranspose2dOptions& o) {
    Pair size;
    for (std::size_t k = 0; k < 2; ++k) {
        const int axis = static_cast<int>(k) + 2;
        size[k] =
            (x[axis] - 1) * o.stride[k] + (w[axis] - 1) * o.dilation[k] + 1 + o.output_padding[k] - 2 * o.padding[k];
    }
    if (size[0] < 1 || size[1] < 1)
        throw ShapeError("conv_transpose2d: x " + to_string(x) + " by w " + to_string(w) + " with padding " +
                         to_string(o.padding) + " would give images of " + to_string(size) +
                         "; at least (1, 1) is needed");
    return Shape{x[0], w[1] * o.groups, size[0], size[1]};
}

// The convolution that goes the other way, from the padded y to x.
kernels::Convolution sizes(const Shape& x, const Shape& w, const Shape& y, const ConvTranspose2dOptions& o) {
    return convolution(x[0], padded_pixels(y, o.padding), w, {x[2], x[3]}, o);
}

void check(const Shape& x, const Shape& w, const ConvTranspose2dOptions& o) {
    check_convolution("conv_transpose2d", "in channels, out channels / groups", x, w, o);
    check_pair("conv_transpose2d", "output_padding", o.output_padding, 0);
    for (std::size_t k = 0; k < 2; ++k)
        if (o.output_padding[k] >= o.stride[k] && o.output_padding[k] >= o.dilation[k])
            throw ValueError("conv_transpose2d: output_padding " + to_string(o.output_padding) +
                             " must be smaller than stride " + to_string(o.stride) + " or dilation " +
                             to_string(o.dilation));
    if (w[0] != x[1])
        throw ShapeError("conv_transpose2d: channels differ: x " + to_string(x) + " by w " + to_string(w) +
                         "; w needs " + std::to_string(x[1]) + " input channels");
    if (x[2] == 0 || x[3] == 0) throw ShapeError("conv_transpose2d: x " + to_string(x) + " has no pixels");
}

}  // namespace

// y = W' * x        dL/dx += W * dL/dy        dL/dW += x * (dL/dy)'
//
// where y and dL/dy stand for their matrices of patches: each product of conv2d in the place of another.
template <Real T>
Var<T> conv_transpose2d(Var<T> x, Var<T> w, ConvTranspose2dOptions options) {
    check(x.shape(), w.shape(), options);
    const auto forward = [options](Forward<T>& node) {
        const Tensor<T>&u = node.input(0), &v = node.input(1);
        const kernels::Convolution c = sizes(u.shape(), v.shape(), node.shape(), options);
        crop_images(GradientSlot<T>{node.value(), true}, node.shape(), options.padding, node.pool(),
                    [&](T* out, T beta) {
                        kernels::convolve_dx(c, u.data(), v.data(), beta, out, node.pool(), kernels::Panels::by_image);
                    });
    };
    const Shape shape = result(x.shape(), w.shape(), options);
    return record("conv_transpose2d", {x, w}, shape, forward, [options](Backward<T>& b) {
        const Tensor<T>&u = b.input(0), &v = b.input(1);
        const Shape& out = b.value().shape();
        const kernels::Convolution c = sizes(u.shape(), v.shape(), out, options);
        Tensor<T> room;
        const T* g = pad_images(b.grad(), out, options.padding, b.pool(), room);
        if (const GradientSlot<T> dx = b.slot(0)) kernels::convolve(c, g, v.data(), dx.fresh ? T(0) : T(1), dx.data);
        if (const GradientSlot<T> dw = b.slot(1))
            kernels::convolve_dw(c, g, u.data(), dw.fresh ? T(0) : T(1), dw.data, b.pool());
    });
}

template Var<float> conv_transpose2d(Var<float>, Var<float>, ConvTranspose2dOptions);
template Var<double> conv_transpose2d(Var<double>, Var<double>, ConvTranspose2dOptions);

}  // namespace pollen
