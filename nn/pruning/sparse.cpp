#include <pollen/nn/pruning/sparse.hpp>

#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/nn/pruning/detail/sparse_weight.hpp>
#include <pollen/nn/pruning/kernels/sparse_product.hpp>

namespace pollen {

namespace {

// Y = X W' + 1 b'        dL/dX += dL/dY W        dL/dV += dL/dY' X at the places of W        dL/db += the sum of dL/dY
template <Real T>
Var<T> sparse_affine(const std::shared_ptr<const SparsePattern>& pattern, Var<T> x, Var<T> values, const Var<T>* bias) {
    const Shape& from = x.shape();
    const std::int64_t inputs = pattern->columns(), rows = from.size() / inputs;
    std::vector<std::int64_t> sizes(from.sizes().begin(), from.sizes().end());
    sizes.back() = pattern->rows();
    const Shape shape{std::span<const std::int64_t>(sizes)};
    const auto forward = [pattern, rows](Forward<T>& node) {
        const T* b = node.input_count() == 3 ? node.input(2).data() : nullptr;
        kernels::sparse_product(*pattern, node.input(1).data(), rows, node.input(0).data(), b, node.value());
    };
    const auto backward = [pattern, rows](Backward<T>& node) {
        const auto beta = [](const GradientSlot<T>& slot) { return slot.fresh ? T(0) : T(1); };
        const T *g = node.grad(), *v = node.input(1).data();
        if (const GradientSlot<T> dx = node.slot(0)) kernels::sparse_dx(*pattern, v, rows, g, beta(dx), dx.data);
        if (const GradientSlot<T> dv = node.slot(1))
            kernels::sparse_dvalues(*pattern, rows, g, node.input(0).data(), beta(dv), dv.data, node.pool());
        if (node.input_count() < 3) return;
        if (const GradientSlot<T> db = node.slot(2))
            kernels::sum_to(g, Shape{rows, pattern->rows()}, db, Shape{1, pattern->rows()});
    };
    if (bias) return record("sparse_affine", {x, values, *bias}, shape, forward, backward);
    return record("sparse_affine", {x, values}, shape, forward, backward);
}

Shape matrix(const Shape& weight) {
    if (weight.rank() != 2)
        throw ShapeError("SparseDense: the weight has shape " + to_string(weight) +
                         "; a matrix (outputs, inputs) is needed");
    return weight;
}

}  // namespace

template <Real T>
SparseDense<T>::SparseDense(std::int64_t inputs, std::int64_t outputs, bool bias) : has_bias_(bias) {
    check_sizes("SparseDense", {{"inputs", inputs}, {"outputs", outputs}});
    pattern_ = std::make_shared<const SparsePattern>(outputs, inputs);
    weight_ = {.shape = {0}, .init = Init::he(), .fans = {inputs, outputs}};
    bias_ = {.shape = {outputs}};
}

template <Real T>
SparseDense<T>::SparseDense(const Tensor<T>& weight)
    : SparseDense(matrix(weight.shape())[1], weight.shape()[0], false) {
    pattern_ = std::make_shared<const SparsePattern>(weight.data(), weight.shape()[0], weight.shape()[1]);
    weight_.value = detail::nonzeros(*pattern_, weight.data());
    weight_.shape = weight_.value.shape();
}

template <Real T>
SparseDense<T>::SparseDense(const Tensor<T>& weight, const Tensor<T>& bias) : SparseDense(weight) {
    detail::check_bias("SparseDense", bias.shape(), weight.shape());
    bias_.value = bias;
    has_bias_ = true;
}

template <Real T>
Var<T> SparseDense<T>::forward(Pass<T>& pass, Var<T> x) const {
    if (x.rank() == 0 || x.shape()[x.rank() - 1] != pattern_->columns())
        throw ShapeError(describe() + ": x has shape " + to_string(x.shape()) + "; its last axis needs " +
                         std::to_string(pattern_->columns()) + " inputs");
    if (!has_bias_) return sparse_affine<T>(pattern_, x, pass(weight_), nullptr);
    const Var<T> bias = pass(bias_);
    return sparse_affine(pattern_, x, pass(weight_), &bias);
}

template <Real T>
std::string SparseDense<T>::describe() const {
    return call("SparseDense", pattern_->columns(), pattern_->rows(), detail::percent(pattern_->density())) +
           (has_bias_ ? "" : " without bias");
}

template <Real T>
std::string SparseDense<T>::details() const {
    return describe() + " with " + detail::pattern_text(*pattern_);
}

template <Real T>
void SparseDense<T>::put_structure(TensorFile& file, const std::string& prefix) const {
    detail::put_sparse<T>(file, prefix + "weight", *pattern_, {pattern_->rows(), pattern_->columns()});
}

template <Real T>
std::vector<std::string> SparseDense<T>::get_structure(TensorFile& file, const std::string& prefix) {
    const std::string name = prefix + "weight";
    pattern_ = detail::get_sparse<T>(file, name, *pattern_, {pattern_->rows(), pattern_->columns()});
    weight_.shape = {pattern_->size()};
    return {name + ".gaps", name + ".shape"};
}

template <Real T>
Tensor<T> SparseDense<T>::dense_weight() const {
    return detail::with_zeros(*pattern_, weight_.value, {pattern_->rows(), pattern_->columns()});
}

template class SparseDense<float>;
template class SparseDense<double>;

}  // namespace pollen
