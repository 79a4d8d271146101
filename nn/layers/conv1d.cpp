#include <pollen/nn/layers/conv1d.hpp>

#include <pollen/nn/layers/detail/convolution_text.hpp>

namespace pollen {

template <Real T>
Conv1d<T>::Conv1d(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel, Conv1dOptions options)
    : options_{{1, options.stride}, {0, options.padding}, {1, options.dilation}, options.groups},
      inputs_(inputs),
      has_bias_(options.bias) {
    check_sizes("Conv1d", {{"inputs", inputs},
                           {"outputs", outputs},
                           {"kernel", kernel},
                           {"stride", options.stride},
                           {"dilation", options.dilation},
                           {"groups", options.groups}});
    if (options.padding < 0)
        throw ValueError("Conv1d: padding is " + std::to_string(options.padding) + "; it must not be negative");
    detail::check_groups("Conv1d", inputs, outputs, options.groups);
    weight = {.shape = {outputs, inputs / options.groups, kernel},
              .init = options.init,
              .fans = {inputs / options.groups * kernel, outputs / options.groups * kernel}};
    bias = {.shape = {outputs}};
}

template <Real T>
Var<T> Conv1d<T>::convolve(Pass<T>& pass, Var<T> x, bool with_relu) const {
    const Shape &from = x.shape(), &kernel = weight.shape;
    if (from.rank() != 3 || from[1] != inputs_)
        throw ShapeError("Conv1d: x " + to_string(from) + "; sequences (n, " + std::to_string(inputs_) +
                         ", length) are needed");
    const std::int64_t covered = (kernel[2] - 1) * options_.dilation[1] + 1, padding = options_.padding[1];
    if (covered > from[2] + 2 * padding)
        throw ShapeError("Conv1d: the kernel covers " + std::to_string(covered) + " numbers; x " + to_string(from) +
                         " with padding " + std::to_string(padding) + " has only " +
                         std::to_string(from[2] + 2 * padding));
    const Var<T> images = reshape(x, {from[0], from[1], 1, from[2]});
    const Var<T> w = reshape(pass(weight), {kernel[0], kernel[1], 1, kernel[2]});
    const Var<T> y = !has_bias_  ? conv2d(images, w, options_)
                     : with_relu ? conv2d_relu(images, w, pass(bias), options_)
                                 : conv2d(images, w, pass(bias), options_);
    return reshape(y, {from[0], kernel[0], y.shape()[3]});
}

template <Real T>
Var<T> Conv1d<T>::forward(Pass<T>& pass, Var<T> x) const {
    return convolve(pass, x, false);
}

template <Real T>
Fused<T> Conv1d<T>::forward_fused(Pass<T>& pass, Var<T> x, std::span<const Part<T>> next) const {
    if (!has_bias_ || next.empty() || next[0]->follower() != Follower::relu) return {forward(pass, x)};
    return {convolve(pass, x, true), 1};
}

template <Real T>
std::string Conv1d<T>::describe() const {
    const auto both = [](const Pair& pair) { return Pair{pair[1], pair[1]}; };
    const Conv2dOptions& o = options_;
    return call("Conv1d", inputs_, weight.shape[0], weight.shape[2]) +
           detail::convolution_extras(both(o.stride), both(o.padding), both(o.dilation), o.groups, has_bias_);
}

template class Conv1d<float>;
template class Conv1d<double>;

}  // namespace pollen
