// A likelihood of your own: numbers with Laplace noise, scored by the mean absolute error.
//     log p(y | x) = -|y - x| / scale - log(2 scale)        the outputs x are (n, k), the targets y have their shape
#include <pollen/nn/distributions/laplace.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/potentials/check_gradient.hpp>
#include <pollen/nn/potentials/network_potential.hpp>

#include <cmath>
#include <iostream>

using namespace pollen;

template <Real T>
class LaplaceNoise final : public Concrete<LaplaceNoise<T>, Likelihood<T>> {
  public:
    // log scale is a parameter, which is learned or sampled with the network's.
    Parameter<T> log_scale{.shape = {}, .init = Init::constant(0)};
    static void members(auto& self, auto& visitor) { visitor.parameter("log_scale", self.log_scale); }

    Var<T> log_prob(Pass<T>& pass, Var<T> outputs, const Dataset<T>& batch) const override {
        check_data(outputs.shape(), batch);
        const Var<T> scale = exp(pass(log_scale));
        return laplace_lpdf(batch.targets, outputs, scale);
    }

    const char* score_name() const override { return "mae"; }
    bool higher_is_better() const override { return false; }
    double score(const Tensor<T>& outputs, const Dataset<T>& batch) const override {
        check_data(outputs.shape(), batch);
        double sum = 0;
        for (std::int64_t i = 0; i < outputs.size(); ++i) sum += std::abs(outputs.data()[i] - batch.targets.data()[i]);
        return sum;
    }
    double finish(double total, std::int64_t items) const override { return total / static_cast<double>(items); }

    std::string describe() const override { return "LaplaceNoise"; }

    // Without this, outputs (n, 1) and targets (n) would broadcast to (n, n). It is also called for all data at first.
    void check_data(const Shape& outputs, const Dataset<T>& batch) const override {
        if (outputs != batch.targets.shape())
            throw ShapeError("LaplaceNoise: outputs have shape " + to_string(outputs) + ", targets " +
                             to_string(batch.targets.shape()) + "; they must be equal");
    }
};

int main() {
    const Dataset<double> data{.inputs = {{1, 2}, {3, 4}, {5, 7}}, .targets = Tensor<double>{1, 0, 2}.reshaped({3, 1})};
    NetworkPotential<double> potential(Dense<double>(2, 1), LaplaceNoise<double>(), data);
    const GradientCheck check = check_gradient(potential, potential.start(1));
    std::cout << "a likelihood of your own: the gradient is off by " << check.error << "\n";
    return check.error < 1e-6 ? 0 : 1;
}
