#pragma once

#include <pollen/nn/module/module.hpp>

namespace pollen {

// A size along the height and the width: 5 or {5, 3}.
struct Size2d {
    Size2d(std::int64_t both) : pair{both, both} {}
    Size2d(std::int64_t height, std::int64_t width) : pair{height, width} {}
    operator Pair() const { return pair; }
    Pair pair;
};

struct ConvOptions {
    Size2d stride = 1;
    Size2d padding = 0;
    Size2d dilation = 1;
    std::int64_t groups = 1;
    bool bias = true;
    Init init = Init::he();
};

// y = W * x + b        x (n, inputs, height, width), W (outputs, inputs / groups, kernel height, kernel width)
//
// With a bias and a Relu behind it in a Sequential, both are one op, and so is a MaxPool2d(2) behind these.
template <Real T = float>
class Conv2d : public Layer<Conv2d<T>, T> {
  public:
    Conv2d(std::int64_t inputs, std::int64_t outputs, Size2d kernel, ConvOptions options = {});

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    Fused<T> forward_fused(Pass<T>& pass, Var<T> x, std::span<const Part<T>> next) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("weight", self.weight);
        if (self.has_bias_) visitor.parameter("bias", self.bias);
    }
    std::string describe() const override;
    bool linear_in_parameters() const override { return true; }
    int feature_axis(int) const override { return 1; }

    const Conv2dOptions& options() const { return options_; }
    bool has_bias() const { return has_bias_; }

    Parameter<T> weight, bias;

  private:
    Conv2dOptions options_;
    std::int64_t inputs_;
    bool has_bias_;
};

struct ConvTransposeOptions {
    Size2d stride = 1;
    Size2d padding = 0;
    Size2d output_padding = 0;
    Size2d dilation = 1;
    std::int64_t groups = 1;
    bool bias = true;
    Init init = Init::he();
};

// The layer whose map of images is the transpose of a Conv2d's: W (inputs, outputs / groups, height, width).
template <Real T = float>
class ConvTranspose2d final : public Layer<ConvTranspose2d<T>, T> {
  public:
    ConvTranspose2d(std::int64_t inputs, std::int64_t outputs, Size2d kernel, ConvTransposeOptions options = {});

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("weight", self.weight);
        if (self.has_bias_) visitor.parameter("bias", self.bias);
    }
    std::string describe() const override;
    bool linear_in_parameters() const override { return true; }
    int feature_axis(int) const override { return 1; }

    Parameter<T> weight, bias;

  private:
    ConvTranspose2dOptions options_;
    std::int64_t outputs_;
    bool has_bias_;
};

}  // namespace pollen
