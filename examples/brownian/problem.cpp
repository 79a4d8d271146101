#include "problem.hpp"

#include <pollen/autograd/random.hpp>
#include <pollen/nn/potentials/function_potential.hpp>

using namespace pollen;

Problem::Problem(std::uint64_t seed, bool broken) : slip(broken) {
    Random(seed, 77).fill_normal(y, 0.5, 1.0);
    double sum = 0, squares = 0;
    for (const double v : y) sum += v;
    for (const double v : y) squares += (v - sum / items) * (v - sum / items);
    mode = sum / precision;
    variance = noise_of(squares / (items - 1));
}

std::unique_ptr<Potential<double>> Problem::potential(double temperature) const {
    auto u = std::make_unique<FunctionPotential<double>>(
        1, items, [this](std::span<const double> theta, std::span<double> slope, std::span<const std::int64_t> some) {
            if (some.empty()) {  // of all items, but for a constant
                if (!slope.empty()) slope[0] = gradient(theta[0]);
                return precision * (theta[0] - mode) * (theta[0] - mode) / 2;
            }
            const double factor = static_cast<double>(items) / static_cast<double>(some.size());
            double energy = 0, sum = 0;
            for (const std::int64_t i : some) {
                const double off = theta[0] - y[static_cast<std::size_t>(i)];
                energy += off * off / 2;
                sum += off;
            }
            if (!slope.empty()) slope[0] = factor * sum + theta[0];
            return factor * energy + theta[0] * theta[0] / 2;
        });
    u->set_temperature(slip ? temperature / 2 : temperature);
    return u;
}

std::vector<double> path(const Problem& problem, const Sgld& sampler, double temperature, double start,
                         std::int64_t steps, std::uint64_t seed, std::uint32_t which) {
    const auto chain = sampler.begin(problem.potential(temperature),
                                     ChainStart<double>{.position = {start}, .seed = seed, .chain = which});
    std::vector<double> theta{start};
    for (std::int64_t t = 0; t < steps; ++t) {
        chain->step();
        theta.push_back(chain->position()[0]);
    }
    return theta;
}
