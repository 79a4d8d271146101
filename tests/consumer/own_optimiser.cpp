// An optimiser of your own: gradient descent by the sign of a running mean of the gradient.
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/training/train.hpp>

#include <cmath>
#include <iostream>

using namespace pollen;

// m = beta m + (1 - beta) g        theta -= rate sign(m)
struct SignDescent {
    Schedule rate = 0.01;
    double beta = 0.9;

    static constexpr int memories = 1;  // numbers to remember for each parameter: m

    // Moves a stretch of theta. It is called for several stretches at once, from several threads.
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const {
        T* m = at.memory[0];
        for (std::int64_t i = 0; i < at.size; ++i) {
            const T g = T(now.scale) * at.gradient[i] + T(now.decay) * at.theta[i];
            m[i] = T(beta) * m[i] + T(1 - beta) * g;
            at.theta[i] -= T(now.rate) * T((m[i] > 0) - (m[i] < 0));
        }
    }
    // All options: a run is resumed only by the same optimiser.
    std::string describe() const { return "SignDescent(" + rate.describe() + ", " + std::to_string(beta) + ")"; }
};
static_assert(UpdateRule<SignDescent>);

int main() {
    // y = 2 x - 1
    const std::vector<double> x{0, 1, 2, 3}, y{-1, 1, 3, 5};
    const Dataset<double> data{.inputs = Tensor<double>({4, 1}, x), .targets = Tensor<double>({4, 1}, y)};
    Dense<double> line(1, 1);
    auto likelihood = Gaussian<double>::known(1);
    train(line, likelihood, data,
          {.epochs = 1000, .optimiser = SignDescent{.rate = Schedule::cosine(0.03, 1000)}, .show = Show::nothing});

    const Tensor<double> theta = Parameters<double>(line).flatten();
    std::cout << "slope and intercept " << theta << "\n";
    return allclose(theta, Tensor<double>{2, -1}, 1e-3, 1e-3) ? 0 : 1;
}
