#pragma once

#include <pollen/nn/module/module.hpp>

namespace pollen {

struct Conv1dOptions {
    std::int64_t stride = 1;
    std::int64_t padding = 0;
    std::int64_t dilation = 1;
    std::int64_t groups = 1;
    bool bias = true;
    Init init = Init::he();
};

// y = W * x + b        x (n, inputs, length), W (outputs, inputs / groups, kernel)
//
// A conv2d of images of height 1. With a bias and a Relu behind it in a Sequential, both are one op.
template <Real T = float>
class Conv1d final : public Layer<Conv1d<T>, T> {
  public:
    Conv1d(std::int64_t inputs, std::int64_t outputs, std::int64_t kernel, Conv1dOptions options = {});

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    Fused<T> forward_fused(Pass<T>& pass, Var<T> x, std::span<const Part<T>> next) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("weight", self.weight);
        if (self.has_bias_) visitor.parameter("bias", self.bias);
    }
    std::string describe() const override;
    bool linear_in_parameters() const override { return true; }
    int feature_axis(int) const override { return 1; }

    Parameter<T> weight, bias;

  private:
    Var<T> convolve(Pass<T>& pass, Var<T> x, bool with_relu) const;

    Conv2dOptions options_;
    std::int64_t inputs_;
    bool has_bias_;
};

}  // namespace pollen
