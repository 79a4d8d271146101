#include <pollen/nn/layers/conv2d.hpp>

#include <pollen/nn/layers/detail/convolution_text.hpp>

namespace pollen {

namespace {

void check_conv(const char* layer, std::int64_t inputs, std::int64_t outputs, const Pair& kernel, std::int64_t groups) {
    check_sizes(layer, {{"inputs", inputs},
                        {"outputs", outputs},
                        {"kernel height", kernel[0]},
                        {"kernel width", kernel[1]},
                        {"groups", groups}});
    detail::check_groups(layer, inputs, outputs, groups);
}

}  // namespace

template <Real T>
Conv2d<T>::Conv2d(std::int64_t inputs, std::int64_t outputs, Size2d kernel, ConvOptions options)
    : options_{options.stride, options.padding, options.dilation, options.groups},
      inputs_(inputs),
      has_bias_(options.bias) {
    const auto [height, width] = kernel.pair;
    check_conv("Conv2d", inputs, outputs, kernel.pair, options.groups);
    weight = {.shape = {outputs, inputs / options.groups, height, width},
              .init = options.init,
              .fans = {inputs / options.groups * height * width, outputs / options.groups * height * width}};
    bias = {.shape = {outputs}};
}

template <Real T>
Var<T> Conv2d<T>::forward(Pass<T>& pass, Var<T> x) const {
    if (has_bias_) return conv2d(x, pass(weight), pass(bias), options_);
    return conv2d(x, pass(weight), options_);
}

template <Real T>
Fused<T> Conv2d<T>::forward_fused(Pass<T>& pass, Var<T> x, std::span<const Part<T>> next) const {
    if (!has_bias_ || next.empty() || next[0]->follower() != Follower::relu) return {forward(pass, x)};
    const Var<T> w = pass(weight), b = pass(bias);
    if (next.size() > 1 && next[1]->follower() == Follower::max_pool_by_two)
        return {conv2d_relu_max_pool2d(x, w, b, options_), 2};
    return {conv2d_relu(x, w, b, options_), 1};
}

template <Real T>
std::string Conv2d<T>::describe() const {
    const Conv2dOptions& o = options_;
    return call("Conv2d", inputs_, weight.shape[0], Pair{weight.shape[2], weight.shape[3]}) +
           detail::convolution_extras(o.stride, o.padding, o.dilation, o.groups, has_bias_);
}

template <Real T>
ConvTranspose2d<T>::ConvTranspose2d(std::int64_t inputs, std::int64_t outputs, Size2d kernel,
                                    ConvTransposeOptions options)
    : options_{options.stride, options.padding, options.output_padding, options.dilation, options.groups},
      outputs_(outputs),
      has_bias_(options.bias) {
    const auto [height, width] = kernel.pair;
    check_conv("ConvTranspose2d", inputs, outputs, kernel.pair, options.groups);
    weight = {.shape = {inputs, outputs / options.groups, height, width},
              .init = options.init,
              .fans = {inputs / options.groups * height * width, outputs / options.groups * height * width}};
    bias = {.shape = {outputs}};
}

template <Real T>
Var<T> ConvTranspose2d<T>::forward(Pass<T>& pass, Var<T> x) const {
    const Var<T> y = conv_transpose2d(x, pass(weight), options_);
    return has_bias_ ? y + reshape(pass(bias), {outputs_, 1, 1}) : y;
}

template <Real T>
std::string ConvTranspose2d<T>::describe() const {
    const ConvTranspose2dOptions& o = options_;
    const std::string text =
        call("ConvTranspose2d", weight.shape[0], outputs_, Pair{weight.shape[2], weight.shape[3]}) +
        detail::convolution_extras(o.stride, o.padding, o.dilation, o.groups, has_bias_);
    return o.output_padding == Pair{0, 0} ? text : text + ", output padding " + to_text(o.output_padding);
}

template class Conv2d<float>;
template class Conv2d<double>;
template class ConvTranspose2d<float>;
template class ConvTranspose2d<double>;

}  // namespace pollen
