#pragma once

#include <pollen/nn/layers/recurrent.hpp>

namespace pollen {

// Long short-term memory (Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000): x (n, steps,
// inputs), states h and cells c of `hidden` numbers. For each step t, with h_0 = c_0 = 0,
//
//     (i, f, g, o) = W x_t + b + U h_{t-1}
//     c_t = sigmoid(f) c_{t-1} + sigmoid(i) tanh(g)        h_t = sigmoid(o) tanh(c_t)
//
// input_weight is W, hidden_weight is U, and bias is b; their rows are those of i, f, g and o, in the order of PyTorch.
// There each gate has two biases, of which only the sum counts: here it has one, so that a posterior has no weights
// that the data cannot tell apart.
//
// For more layers, put several into a Sequential. The Bayesian twin draws the weights once for all steps.
template <Real T = float>
class Lstm final : public Layer<Lstm<T>, T> {
  public:
    Lstm(std::int64_t inputs, std::int64_t hidden, RecurrentOptions options = {});

    Var<T> forward(Pass<T>& pass, Var<T> x) const override;
    static void members(auto& self, auto& visitor) {
        visitor.parameter("input_weight", self.input_weight);
        visitor.parameter("hidden_weight", self.hidden_weight);
        visitor.parameter("bias", self.bias);
    }
    std::string describe() const override;

    Parameter<T> input_weight, hidden_weight, bias;

  private:
    Steps output_;
};

}  // namespace pollen
