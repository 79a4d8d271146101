#pragma once

#include "full_batch/full_batch_checks.hpp"

#include <pollen/nn/distributions.hpp>
#include <pollen/nn/potentials/model.hpp>

namespace pollen::test {

inline ModelPotential<double> eight_schools() {
    static const Tensor<double> y{28, 8, -3, 7, -1, 1, 18, 12}, sigma{15, 10, 16, 11, 9, 11, 10, 18};
    return ModelPotential<double>([](Model<double>& m) {
        const auto mu = m.real("mu"), tau = m.positive("tau"), z = m.real("z", {8});
        m.prior(normal_lpdf(mu, 0, 5));
        m.prior(half_cauchy_lpdf(tau, 5));
        m.prior(normal_lpdf(z, 0, 1));
        m.likelihood(normal_lpdf(y, m.quantity("theta", mu + tau * z), sigma));
    });
}

// A twin without the Jacobian of tau = exp(x): its target is the posterior over tau.
class WithoutJacobian final : public Potential<double> {
  public:
    std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<WithoutJacobian>(); }
    std::int64_t size() const override { return model_.size(); }
    std::int64_t items() const override { return 0; }
    Energy evaluate(std::span<const double> x, std::span<double> g) override {
        Energy energy = model_.evaluate(x, g);
        energy.prior += x[1];
        if (!g.empty()) g[1] += 1;
        return energy;
    }
    Energy evaluate(std::span<const double> x, std::span<double> g, std::span<const std::int64_t>) override {
        return evaluate(x, g);
    }
    const std::vector<Quantity>& quantities() const override { return model_.quantities(); }
    void values(std::span<const double> x, std::span<double> out) override { model_.values(x, out); }
    const std::vector<Quantity>& blocks() const override { return model_.blocks(); }
    std::string describe() const override { return "twin"; }

  private:
    ModelPotential<double> model_ = eight_schools();
};

inline ModelPotential<double> eight_schools_centred() {
    static const Tensor<double> y{28, 8, -3, 7, -1, 1, 18, 12}, sigma{15, 10, 16, 11, 9, 11, 10, 18};
    return ModelPotential<double>([](Model<double>& m) {
        const auto mu = m.real("mu"), tau = m.positive("tau"), theta = m.real("theta", {8});
        m.prior(normal_lpdf(mu, 0, 5));
        m.prior(half_cauchy_lpdf(tau, 5));
        m.prior(normal_lpdf(theta, mu, tau));
        m.likelihood(normal_lpdf(y, theta, sigma));
    });
}

// The greatest z-score of the means and second moments of mu, tau and theta. The exact moments are by quadrature over
// log tau, given which all else is normal. The position is mu, log tau, z.
inline double eight_schools_z(const Run& run) {
    const double mean[10] = {4.396820709, 3.597705566, 6.21188424,  4.940178427, 3.927004387,
                             4.757098294, 3.615476992, 4.042612623, 6.296724166, 4.854253325};
    const double sd[10] = {3.317704467, 3.219958406, 5.593126234, 4.674268491, 5.262615143,
                           4.780297368, 4.657452612, 4.826865622, 5.077848786, 5.290801103};
    double greatest = 0;
    for (std::size_t k = 0; k < 10; ++k) {
        const auto value = [&](const std::vector<double>& x) {
            return k == 0 ? x[0] : k == 1 ? std::exp(x[1]) : x[0] + std::exp(x[1]) * x[k];
        };
        greatest = std::max(greatest, std::abs(z_score(run.of(value), mean[k])));
        greatest = std::max(greatest, std::abs(z_score(run.of([&](const auto& x) { return value(x) * value(x); }),
                                                       mean[k] * mean[k] + sd[k] * sd[k])));
    }
    return greatest;
}

}  // namespace pollen::test
