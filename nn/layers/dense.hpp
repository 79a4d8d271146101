#pragma once

#include <pollen/nn/module/module.hpp>

namespace pollen {

struct DenseOptions {
    bool bias = true;
    Init init = Init::he();
};

// y = x W' + b        x (n, inputs), W (outputs, inputs)
//
// With a bias and a Relu behind it in a Sequential, both are one op.
template <Real T = float>
class Dense final : public Layer<Dense<T>, T> {
  public:
    Dense(std::int64_t inputs, std::int64_t outputs, DenseOptions options = {});

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    Fused<T> forward_fused(Pass<T>& pass, Var<T> x, std::span<const Part<T>> next) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("weight", self.weight);
        if (self.has_bias_) visitor.parameter("bias", self.bias);
    }
    std::string describe() const override;
    bool linear_in_parameters() const override { return true; }

    bool has_bias() const { return has_bias_; }

    Parameter<T> weight, bias;

  private:
    void check(const Shape& x) const;

    bool has_bias_;
};

}  // namespace pollen
