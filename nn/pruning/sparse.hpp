#pragma once

#include <pollen/nn/layers/conv2d.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/module/structure.hpp>
#include <pollen/nn/pruning/sparse_pattern.hpp>

#include <memory>

namespace pollen {

// Layers whose weight matrix is mostly zeros, of which nothing is stored or computed. compress() makes them of pruned
// layers.
//
// The weights that are there are a parameter like any other: they can be trained on, and evaluated at other values. The
// places of the zeros stay. Zeros are not multiplied with: infinite inputs do not become NaN by them.
//
// In a file, `weight` has the numbers that are not zero, row by row, `weight.shape` the sizes of the whole tensor, and
// `weight.gaps` how many zeros are before each number (see SparsePattern::gaps).

// y = x W' + b        x (n, inputs), W (outputs, inputs)
template <Real T = float>
class SparseDense final : public Layer<SparseDense<T>, T>, public HasStructure {
  public:
    // A layer that will be loaded: all weights are zeros until then.
    SparseDense(std::int64_t inputs, std::int64_t outputs, bool bias = true);
    // Of the weights and biases of a dense layer, zeros left out.
    explicit SparseDense(const Tensor<T>& weight);
    SparseDense(const Tensor<T>& weight, const Tensor<T>& bias);

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("weight", self.weight_);
        if (self.has_bias_) visitor.parameter("bias", self.bias_);
    }
    std::string describe() const override;
    std::string details() const override;
    void put_structure(TensorFile& file, const std::string& prefix) const override;
    std::vector<std::string> get_structure(TensorFile& file, const std::string& prefix) override;

    const SparsePattern& pattern() const { return *pattern_; }
    Tensor<T> dense_weight() const;  // with the zeros

  private:
    std::shared_ptr<const SparsePattern> pattern_;
    Parameter<T> weight_, bias_;
    bool has_bias_;
};

// y = W * x + b        x (n, inputs, height, width), W (outputs, inputs / groups, kernel height, kernel width)
template <Real T = float>
class SparseConv2d final : public Layer<SparseConv2d<T>, T>, public HasStructure {
  public:
    SparseConv2d(std::int64_t inputs, std::int64_t outputs, Size2d kernel, ConvOptions options = {});
    explicit SparseConv2d(const Tensor<T>& weight, Conv2dOptions options = {});
    SparseConv2d(const Tensor<T>& weight, const Tensor<T>& bias, Conv2dOptions options = {});

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("weight", self.weight_);
        if (self.has_bias_) visitor.parameter("bias", self.bias_);
    }
    std::string describe() const override;
    std::string details() const override;
    void put_structure(TensorFile& file, const std::string& prefix) const override;
    std::vector<std::string> get_structure(TensorFile& file, const std::string& prefix) override;

    const SparsePattern& pattern() const { return *pattern_; }
    Tensor<T> dense_weight() const;

  private:
    std::shared_ptr<const SparsePattern> pattern_;
    Parameter<T> weight_, bias_;
    Shape shape_;  // of W
    Conv2dOptions options_;
    bool has_bias_;
};

}  // namespace pollen
