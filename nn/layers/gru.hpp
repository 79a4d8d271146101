#pragma once

#include <pollen/nn/layers/recurrent.hpp>

namespace pollen {

// A gated recurrent unit (Cho et al. 2014): x (n, steps, inputs), states h of `hidden` numbers. For each step t, with
// h_0 = 0,
//
//     r = sigmoid(W_r x_t + b_r + U_r h_{t-1})        z = sigmoid(W_z x_t + b_z + U_z h_{t-1})
//     n = tanh(W_n x_t + b_n + r (U_n h_{t-1} + c))        h_t = (1 - z) n + z h_{t-1}
//
// input_weight has the rows W_r, W_z, W_n, hidden_weight U_r, U_z, U_n, and bias b_r, b_z, b_n; hidden_bias is c. The
// order and the formulas are those of PyTorch. There r and z have two biases each, of which only the sum counts: here
// they have one, so that a posterior has no weights that the data cannot tell apart.
//
// For more layers, put several into a Sequential. The Bayesian twin draws the weights once for all steps.
template <Real T = float>
class Gru final : public Layer<Gru<T>, T> {
  public:
    Gru(std::int64_t inputs, std::int64_t hidden, RecurrentOptions options = {});

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("input_weight", self.input_weight);
        visitor.parameter("hidden_weight", self.hidden_weight);
        visitor.parameter("bias", self.bias);
        visitor.parameter("hidden_bias", self.hidden_bias);
    }
    std::string describe() const override;

    Parameter<T> input_weight, hidden_weight, bias, hidden_bias;

  private:
    Steps output_;
};

}  // namespace pollen
