// A prior of your own: the logistic distribution about 0. With z = w / scale,
//     log p(w) = -|z| - 2 log(1 + exp(-|z|)) - log scale        d log p / dw = -tanh(z / 2) / scale
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/potentials/check_gradient.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/priors/prior.hpp>

#include <cmath>
#include <iostream>

using namespace pollen;

struct LogisticPrior {
    double scale = 1;

    double log_prob(double w) const {
        const double z = std::abs(w) / scale;
        return -z - 2 * std::log1p(std::exp(-z)) - std::log(scale);
    }
    double slope(double w) const { return -std::tanh(w / (2 * scale)) / scale; }
    std::string describe() const { return "LogisticPrior(scale " + std::to_string(scale) + ")"; }
    // Optional: throws if the prior cannot have its numbers.
    void check() const {
        if (!(scale > 0)) throw ValueError(describe() + ": scale must be positive");
    }
};

int main() {
    // SciPy: logistic.logpdf([-1, 0.5, 4], 0, 2).sum()
    const double w[] = {-1, 0.5, 4};
    const double sum = Prior(LogisticPrior{2}).log_prob(w, 3);
    if (std::abs(sum + 7.183330371883681) > 1e-13) return 1;

    // As the prior of a network, beside a likelihood: gradients against differences.
    const Dataset<double> data{.inputs = {{1, 2}, {3, 4}}, .targets = {1, 0}};
    NetworkPotential<double> potential(Dense<double>(2, 1), Gaussian<double>::known(1), data,
                                       {.prior = LogisticPrior{.scale = 0.5}});
    const GradientCheck check = check_gradient(potential, potential.start(1));
    std::cout << "a prior of your own: the gradient is off by " << check.error << "\n";
    return check.error < 1e-6 ? 0 : 1;
}
