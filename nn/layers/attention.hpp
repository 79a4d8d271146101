#pragma once

#include <pollen/nn/module/module.hpp>

namespace pollen {

struct AttentionOptions {
    bool causal = false;  // a step sees itself and the steps before it
    double dropout = 0;   // the rate for the attention weights, in training and in Mode::sample
    bool bias = true;
    Init init = Init::glorot();  // of the weights; biases start at 0
};

// Self-attention (Vaswani et al. 2017): x (n, steps, features) becomes (n, steps, features). Each of the queries Q,
// keys K and values V is cut into `heads` parts of d = features / heads numbers.
//
//     (Q, K, V) = x W' + b        part h of Z = softmax(Q_h K_h' / sqrt(d)) V_h        y = Z W_o' + b_o
//
// The softmax runs over the steps that a step sees. input_weight is W, of shape (3 features, features) with the rows of
// Q, K and V; output_weight is W_o, of shape (features, features). The parameters are those of PyTorch's
// MultiheadAttention.
template <Real T = float>
class MultiHeadAttention final : public Layer<MultiHeadAttention<T>, T> {
  public:
    MultiHeadAttention(std::int64_t features, std::int64_t heads, AttentionOptions options = {});

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("input_weight", self.input_weight);
        if (self.options_.bias) visitor.parameter("input_bias", self.input_bias);
        visitor.parameter("output_weight", self.output_weight);
        if (self.options_.bias) visitor.parameter("output_bias", self.output_bias);
    }
    std::string describe() const override;

    Parameter<T> input_weight, input_bias, output_weight, output_bias;

  private:
    Var<T> linear(Pass<T>& pass, Var<T> x, const Parameter<T>& weight, const Parameter<T>& bias) const;

    std::int64_t features_, heads_;
    AttentionOptions options_;
};

}  // namespace pollen
