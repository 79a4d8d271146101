// A layer of your own: y = x * scale, with one number to learn for each feature.
#include <pollen/nn/layers/activations.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/training/train.hpp>

#include <cmath>
#include <iostream>

using namespace pollen;

template <Real T = float>
class Scale final : public Layer<Scale<T>, T> {
  public:
    // The shape of the parameter, and its first value.
    explicit Scale(std::int64_t features) : scale_{.shape = {features}, .init = Init::constant(1)} {}

    // pass(parameter) is the parameter on the tape of this evaluation.
    Var<T> forward(Pass<T>& pass, Var<T> x) const override { return x * pass(scale_); }
    // Names the parameters: for training, saving and sampling.
    static void members(auto& self, auto& visitor) { visitor.parameter("scale", self.scale_); }
    std::string describe() const override { return "Scale(" + std::to_string(scale_.shape[0]) + ")"; }

  private:
    Parameter<T> scale_;
};

int main() {
    // Numbers that such a network has made, with scales 0.5 and -2.
    const Tensor<double> x{{1, 0.1}, {-0.5, 0.4}, {2, -0.3}};
    std::vector<double> y;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 2; ++k) y.push_back(std::tanh((k == 0 ? 0.5 : -2) * x(i, k)));

    Sequential net{Scale<double>(2), Tanh<double>()};
    auto likelihood = Gaussian<double>::known(1);
    train(net, likelihood, Dataset<double>{.inputs = x, .targets = Tensor<double>({3, 2}, y)},
          {.epochs = 500, .optimiser = Adam{.rate = Schedule::cosine(0.1, 500)}, .show = Show::nothing});

    const Tensor<double> scale = Parameters<double>(net).flatten();
    std::cout << summary(net, {2}) << "scales " << scale << "\n";
    return allclose(scale, Tensor<double>{0.5, -2}, 1e-3, 1e-3) ? 0 : 1;
}
