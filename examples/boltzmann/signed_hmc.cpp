#include "signed_hmc.hpp"

#include "../common/example.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/random.hpp>

#include <numeric>

using namespace pollen;

namespace {

struct Particle {
    std::vector<double> theta, momentum, slope;
    double energy = 0;

    double kinetic() const { return std::inner_product(momentum.begin(), momentum.end(), momentum.begin(), 0.0) / 2; }
    void leapfrog(Potential<double>& potential, double step) {
        for (std::size_t i = 0; i < theta.size(); ++i) momentum[i] -= step / 2 * slope[i];
        for (std::size_t i = 0; i < theta.size(); ++i) theta[i] += step * momentum[i];
        energy = potential.evaluate(theta, slope).total();
        for (std::size_t i = 0; i < theta.size(); ++i) momentum[i] -= step / 2 * slope[i];
    }
};

}  // namespace

Tensor<double> signed_hmc(Potential<double>& potential, const std::vector<double>& start, double sign,
                          std::int64_t draws, std::uint64_t seed) {
    Tensor<double> energies = Tensor<double>::empty({8, draws});
    for (std::int64_t c = 0; c < 8; ++c) {
        Random random(seed, static_cast<std::uint32_t>(c));
        Particle now{start, std::vector<double>(start.size()), std::vector<double>(start.size())};
        now.energy = potential.evaluate(now.theta, now.slope).total();
        for (std::int64_t t = -100; t < draws; ++t) {  // 100 of warm-up
            stop_if_asked();
            random.fill_normal(now.momentum);
            Particle next = now;
            for (std::uint32_t k = 20 + random.below(41); k > 0; --k) next.leapfrog(potential, 0.015);
            const double rise = next.energy - now.energy + sign * (next.kinetic() - now.kinetic());
            if (random.uniform() < math::exp(-rise)) now = next;
            if (t >= 0) energies.mutable_at(c, t) = now.energy;
        }
    }
    return energies;
}
