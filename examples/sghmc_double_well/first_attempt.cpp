#include "first_attempt.hpp"

#include "../common/stage.hpp"
#include "../common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/samplers/diagnostics/diagnostics.hpp>
#include <pollen/samplers/diagnostics/summary.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace pollen;

namespace {

constexpr double b = 0.1, eta = 0.2;

// x after each step of a chain.
std::vector<double> chain(double sigma, bool metropolis, std::int64_t steps, Random random) {
    std::vector<double> at;
    double x = 0, p = 0;
    for (std::int64_t t = -1000; t < steps; ++t) {
        p = (1 - b) * p - b * x + sigma * random.normal();
        const double next = x + eta * p, rise = (next * next - x * x) / 2;
        if (!metropolis || random.uniform() < math::exp(-rise)) x = next;
        if (t >= 0) at.push_back(x);
    }
    return at;
}

// Its exact variance of x: P = A P A' + Q for (x, p), by iteration.
double law(double sigma) {
    const double a = 1 - b, s2 = sigma * sigma;
    double xx = 0, xp = 0, pp = 0;
    for (int k = 0; k < 100000; ++k) {
        // p' = a p - b x + noise, x' = x + eta p'
        const double new_pp = a * a * pp - 2 * a * b * xp + b * b * xx + s2;
        const double x_new_p = a * xp - b * xx;
        const double new_xp = x_new_p + eta * new_pp;
        xx += 2 * eta * x_new_p + eta * eta * new_pp;
        xp = new_xp;
        pp = new_pp;
    }
    return xx;
}

// How the place before the last one goes with the next one, the last one given: 0 if x alone were a Markov chain.
double memory(const std::vector<std::vector<double>>& chains) {
    double of_one = 0, of_two = 0;
    for (const std::vector<double>& x : chains) {
        const std::vector<double> rho = autocorrelation(x);
        of_one += rho[1] / static_cast<double>(chains.size());
        of_two += rho[2] / static_cast<double>(chains.size());
    }
    return (of_two - of_one * of_one) / (1 - of_one * of_one);
}

}  // namespace

void first_attempt(const Example& example, std::int64_t steps, bool slip) {
    std::printf("\n4. Momentum descent with noise, U = x^2 / 2, b = %g, eta = %g: the posterior has <x^2> = 1\n", b,
                eta);
    ResultTable table({"noise", "mean of x^2", "its law", "eta sigma^2 / 2b^2", "memory"});
    const auto show = [&](const std::string& name, double sigma, bool metropolis) {
        const Found run = stage(example, "momentum: " + name, [&] {
            std::vector<std::vector<double>> chains, squares;
            for (std::uint32_t c = 0; c < 4; ++c) {
                chains.push_back(chain(slip ? sigma * sigma : sigma, metropolis, steps / 4, Random(example.seed, c)));
                squares.push_back(chains.back());
                for (double& x : squares.back()) x *= x;
            }
            const QuantitySummary s = summarise(Chains(squares));
            return Found{{"square", {s.mean, sigma > 0 ? s.mcse : 0.0}},
                         {"memory", {sigma > 0 ? memory(chains) : 0.0}}};
        });
        const double T = eta * sigma * sigma / (2 * b * b);
        table.row({name,
                   {run.at("square")(0), run.at("square")(1), 3},
                   metropolis ? Cell("") : Cell(law(sigma), 3),
                   metropolis ? Cell("") : Cell(T, 3),
                   sigma > 0 ? Cell(run.at("memory").item(), 2) : Cell("")});
    };
    const double right = b * std::sqrt(2 / eta);
    show("none", 0, false);
    show("sigma = b", b, false);
    show("sigma = b sqrt(2 / eta)", right, false);
    show("sigma = 2b sqrt(2 / eta)", 2 * right, false);
    show("sigma = b, Metropolis on U", b, true);
    show("sigma = b sqrt(2 / eta), Metropolis on U", right, true);
    table.show();
    table.save(example.path("sghmc_first_attempt"));
    std::printf(
        "It samples exp(-U / T) at T = eta sigma^2 / 2b^2: the posterior for one sigma alone, with which it is SGHMC.\n"
        "The place before tells of the next one, so x alone is no Markov chain, but x and p together are. A "
        "Metropolis\n"
        "test of x alone, as if the steps were reversible, makes a third law of it.\n");
}
