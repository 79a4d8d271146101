// A potential of your own: -log of a posterior density, with its gradient worked out by hand. (FunctionPotential is
// shorter if U is a function; ModelPotential needs no gradient.)
#include <pollen/nn/potentials/check_gradient.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <cmath>
#include <iostream>
#include <numeric>

using namespace pollen;

// y_i ~ N(mu, 1), mu ~ N(0, 1):  U = mu^2 / 2 + sum_i (y_i - mu)^2 / 2, and N/n times that sum for a batch of n.
class NormalMean final : public Potential<double> {
  public:
    explicit NormalMean(std::vector<double> y) : y_(y), all_(y.size()) { std::iota(all_.begin(), all_.end(), 0); }

    std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<NormalMean>(*this); }
    std::int64_t size() const override { return 1; }                // numbers in theta
    std::int64_t items() const override { return std::ssize(y_); }  // N

    Energy evaluate(std::span<const double> theta, std::span<double> gradient) override {
        return evaluate(theta, gradient, all_);
    }
    Energy evaluate(std::span<const double> theta, std::span<double> gradient,
                    std::span<const std::int64_t> batch) override {
        const double mu = theta[0], factor = double(y_.size()) / double(batch.size());
        double squares = 0, slope = 0;
        for (const std::int64_t i : batch) {
            const double d = mu - y_[std::size_t(i)];
            squares += d * d, slope += d;
        }
        if (!gradient.empty()) gradient[0] = mu + factor * slope;
        return {.prior = mu * mu / 2, .likelihood = factor * squares / 2};
    }

    // What a draw consists of: here theta itself.
    const std::vector<Quantity>& quantities() const override { return names_; }
    void values(std::span<const double> theta, std::span<double> out) override { out[0] = theta[0]; }
    const std::vector<Quantity>& blocks() const override { return names_; }
    std::string describe() const override { return "NormalMean(" + std::to_string(y_.size()) + ")"; }

  private:
    std::vector<double> y_;
    std::vector<std::int64_t> all_;
    std::vector<Quantity> names_{{.name = "mu", .shape = {}}};
};

int main() {
    NormalMean potential({1, 2, 3, 4, 5});  // mu given y is N(15 / 6, 1 / 6)
    bool right = check_gradient(potential, {0.3}).error < 1e-6;
    const auto near = [&](const Draws& draws) {
        std::cout << summary(draws);
        const QuantitySummary mu = summarise(draws.values)[0];
        right = right && std::abs(mu.mean - 2.5) < 0.1 && std::abs(mu.sd - std::sqrt(1.0 / 6)) < 0.05;
    };
    near(run_chains(potential, Nuts{}, {.seed = 1, .show = Show::nothing}));
    near(
        run_chains(potential, Sgld{.step_size = 0.01, .batch = 4}, {.draws = 20000, .seed = 1, .show = Show::nothing}));
    return right ? 0 : 1;
}
