#include <pollen/autograd/detail/convolution.hpp>
#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/nn/pruning/detail/sparse_weight.hpp>
#include <pollen/nn/pruning/kernels/sparse_conv2d.hpp>

namespace pollen {

namespace {

// Checks as in a Conv2d, with messages about this layer.
kernels::SparseConvolution sizes(const std::string& layer, const Shape& x, const Shape& w, const Conv2dOptions& o) {
    const std::int64_t inputs = w[1] * o.groups;
    if (x.rank() != 4 || x[1] != inputs)
        throw ShapeError(layer + ": x has shape " + to_string(x) + "; images (batch, " + std::to_string(inputs) +
                         ", height, width) are needed");
    const Pair span = covered_pixels(w, o.dilation), size = padded_pixels(x, o.padding);
    if (span[0] > size[0] || span[1] > size[1])
        throw ShapeError(layer + ": x has shape " + to_string(x) + "; with its padding it is smaller than the kernel");
    return {convolution(x, w, o), o.padding[0], o.padding[1]};
}

Shape four_axes(const Shape& weight) {
    if (weight.rank() != 4)
        throw ShapeError("SparseConv2d: the weight has shape " + to_string(weight) +
                         "; (outputs, inputs / groups, kernel height, kernel width) is needed");
    return weight;
}

ConvOptions layer_options(const Conv2dOptions& o) {
    return {.stride = {o.stride[0], o.stride[1]},
            .padding = {o.padding[0], o.padding[1]},
            .dilation = {o.dilation[0], o.dilation[1]},
            .groups = o.groups,
            .bias = false};
}

}  // namespace

// A Conv2d checks the sizes.
template <Real T>
SparseConv2d<T>::SparseConv2d(std::int64_t inputs, std::int64_t outputs, Size2d kernel, ConvOptions options)
    : has_bias_(options.bias) {
    const Conv2d<T> dense(inputs, outputs, kernel, options);
    shape_ = dense.weight.shape;
    options_ = dense.options();
    pattern_ = std::make_shared<const SparsePattern>(outputs, shape_.size() / outputs);
    weight_ = {.shape = {0}, .init = dense.weight.init, .fans = dense.weight.fans};
    bias_ = {.shape = {outputs}};
}

template <Real T>
SparseConv2d<T>::SparseConv2d(const Tensor<T>& weight, Conv2dOptions options)
    : SparseConv2d(four_axes(weight.shape())[1] * options.groups, weight.shape()[0],
                   {weight.shape()[2], weight.shape()[3]}, layer_options(options)) {
    pattern_ = std::make_shared<const SparsePattern>(weight.data(), pattern_->rows(), pattern_->columns());
    weight_.value = detail::nonzeros(*pattern_, weight.data());
    weight_.shape = weight_.value.shape();
}

template <Real T>
SparseConv2d<T>::SparseConv2d(const Tensor<T>& weight, const Tensor<T>& bias, Conv2dOptions options)
    : SparseConv2d(weight, options) {
    detail::check_bias("SparseConv2d", bias.shape(), weight.shape());
    bias_.value = bias;
    has_bias_ = true;
}

// y = W * x + b        dL/dx += W' * dL/dy        dL/dV += dL/dy * x' at the places of W        dL/db += sums of dL/dy
template <Real T>
Var<T> SparseConv2d<T>::forward(Pass<T>& pass, Var<T> x) const {
    const kernels::SparseConvolution c = sizes(describe(), x.shape(), shape_, options_);
    const Shape shape{c.s.batch, c.s.groups * c.s.out, c.s.out_h, c.s.out_w};
    const Var<T> values = pass(weight_);
    const auto forward = [this, c](Forward<T>& node) {
        const T* bias = has_bias_ ? node.input(2).data() : nullptr;
        kernels::sparse_convolve(c, *pattern_, node.input(1).data(), node.input(0).data(), bias, node.value());
    };
    const auto backward = [this](Backward<T>& node) {
        const auto beta = [](const GradientSlot<T>& slot) { return slot.fresh ? T(0) : T(1); };
        const auto again = sizes("", node.input(0).shape(), shape_, options_);
        const T *g = node.grad(), *v = node.input(1).data();
        if (const GradientSlot<T> dx = node.slot(0))
            kernels::sparse_convolve_dx(again, *pattern_, v, g, beta(dx), dx.data);
        if (const GradientSlot<T> dv = node.slot(1))
            kernels::sparse_convolve_dvalues(again, *pattern_, g, node.input(0).data(), beta(dv), dv.data);
        if (!has_bias_) return;
        const Shape& out = node.value().shape();
        if (const GradientSlot<T> db = node.slot(2)) kernels::sum_to(g, out, db, Shape{1, out[1], 1, 1});
    };
    if (has_bias_) return record("sparse_conv2d", {x, values, pass(bias_)}, shape, forward, backward);
    return record("sparse_conv2d", {x, values}, shape, forward, backward);
}

template <Real T>
std::string SparseConv2d<T>::describe() const {
    return call("SparseConv2d", shape_[1] * options_.groups, shape_[0], Pair{shape_[2], shape_[3]},
                detail::percent(pattern_->density())) +
           (has_bias_ ? "" : " without bias");
}

template <Real T>
std::string SparseConv2d<T>::details() const {
    const auto pair = [](const char* name, const Pair& p) { return name + to_string(Shape{p[0], p[1]}); };
    const Conv2dOptions& o = options_;
    return describe() + " with " + detail::pattern_text(*pattern_) + pair(", stride ", o.stride) +
           pair(", padding ", o.padding) + pair(", dilation ", o.dilation) + ", groups " + std::to_string(o.groups);
}

template <Real T>
void SparseConv2d<T>::put_structure(TensorFile& file, const std::string& prefix) const {
    detail::put_sparse<T>(file, prefix + "weight", *pattern_, shape_);
}

template <Real T>
std::vector<std::string> SparseConv2d<T>::get_structure(TensorFile& file, const std::string& prefix) {
    const std::string name = prefix + "weight";
    pattern_ = detail::get_sparse<T>(file, name, *pattern_, shape_);
    weight_.shape = {pattern_->size()};
    return {name + ".gaps", name + ".shape"};
}

template <Real T>
Tensor<T> SparseConv2d<T>::dense_weight() const {
    return detail::with_zeros(*pattern_, weight_.value, shape_);
}

template class SparseConv2d<float>;
template class SparseConv2d<double>;

}  // namespace pollen
