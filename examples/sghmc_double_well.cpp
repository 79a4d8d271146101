// What noise in the gradient does to Hamiltonian Monte Carlo, and the friction that mends it: the three experiments of
// Chen, Fox & Guestrin, Stochastic gradient Hamiltonian Monte Carlo, 2014, Figures 1 to 3.
//
//     ./run example sghmc_double_well
//
//     1  two wells, U = -2x^2 + x^4: HMC along noisy gradients draws from another law; with friction it is right
//     2  U = x^2 / 2: noise drives the energy up without end; friction takes out what noise puts in
//     3  two correlated numbers: SGLD and SGHMC, how fast they move and how wrong they are
//
// Expected output: a table and a figure for each, sghmc_double_well, sghmc_phase_space and sghmc_or_sgld. The naive
// sampler's total variation is 0.14, the others' is what 80,000 draws leave to chance, about 0.01. Where both err by
// 0.02, SGLD takes some 140 gradients for an independent draw and SGHMC 9.
#include "example.hpp"
#include "figure.hpp"

#include <pollen/nn/function_potential.hpp>
#include <pollen/samplers/hmc.hpp>
#include <pollen/samplers/naive_sghmc.hpp>
#include <pollen/samplers/run.hpp>
#include <pollen/samplers/sghmc.hpp>
#include <pollen/samplers/sgld.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <numeric>

using namespace pollen;

constexpr std::uint64_t seed = 1;

// A potential of one's own: any U with its slope, and noise in the gradients of batches. It acts as if there were N
// items of data, of which item k says U(x) / N + c_k x. The c_k add up to 0, so that all items together say U; a batch
// of one has the gradient dU/dx + N c_k, and N c_k is normal with the variance that was asked for.
FunctionPotential<double> noisy(std::int64_t size, double variance, FunctionPotential<double>::Function f) {
    constexpr std::int64_t items = 20000;
    std::vector<double> noise(static_cast<std::size_t>(items * size));  // N c_k, item after item
    const std::span<double> half = std::span(noise).first(noise.size() / 2);
    Random(99).fill_normal(half, 0, std::sqrt(variance));
    std::ranges::transform(half, noise.begin() + std::ssize(half), std::negate());
    return {size, items,
            [f = std::move(f), noise = std::move(noise)](std::span<const double> x, std::span<double> slope,
                                                         std::span<const std::int64_t> batch) {
                double u = f(x, slope);
                for (const std::int64_t k : batch)
                    for (std::size_t i = 0; i < x.size(); ++i) {
                        const double c =
                            noise[static_cast<std::size_t>(k) * x.size() + i] / static_cast<double>(batch.size());
                        u += c * x[i];
                        if (!slope.empty()) slope[i] += c;
                    }
                return u;
            }};
}

// ---- 1. Two wells. ----

constexpr int cells = 50;
constexpr double first_cell = -2.5, cell = 0.1;

// The densities of a law in the cells.
using Law = std::vector<double>;

Law exact_law(Potential<double>& potential) {
    constexpr int parts = 20;
    Law law(cells, 0);
    double total = 0;
    for (int k = 0; k < cells * parts; ++k) {
        const double x = first_cell + (k + 0.5) * cell / parts;
        const double weight = std::exp(-potential.evaluate({&x, 1}, {}).total());
        law[static_cast<std::size_t>(k / parts)] += weight;
        total += weight * cell;
    }
    for (double& density : law) density /= total;
    return law;
}

Law law_of(const Tensor<double>& draws) {
    Law law(cells, 0);
    for (const double x : draws) {
        const double k = std::floor((x - first_cell) / cell);
        if (k >= 0 && k < cells) law[static_cast<std::size_t>(k)] += 1 / (cell * static_cast<double>(draws.size()));
    }
    return law;
}

// Half the sum of all differences of probabilities: 0 for the same law, 1 for laws without anything in common. What is
// outside the cells counts, too.
double total_variation(const Law& p, const Law& q) {
    double difference = 0, outside = 0;
    for (std::size_t k = 0; k < cells; ++k) {
        difference += std::abs(p[k] - q[k]) * cell;
        outside += (p[k] - q[k]) * cell;
    }
    return (difference + std::abs(outside)) / 2;
}

void two_wells(std::int64_t draws) {
    auto potential = noisy(1, 4, [](std::span<const double> x, std::span<double> slope) {
        const double square = x[0] * x[0];
        if (!slope.empty()) slope[0] = 4 * x[0] * (square - 1);
        return square * (square - 2);
    });
    const Law exact = exact_law(potential);
    std::vector<double> left, middle;
    for (int k = 0; k < cells; ++k) {
        left.push_back(first_cell + k * cell);
        middle.push_back(left.back() + cell / 2);
    }
    Figure figure("sghmc_double_well", "Two wells, with gradients that have noise of variance 4", "x", "density");
    figure.steps("exact", left, exact);

    std::printf("1. Two wells, %lld draws in 4 chains, 50 steps a draw\n\n", static_cast<long long>(draws));
    std::printf("%-38s %10s %16s\n", "", "acceptance", "total variation");
    double expected = 0;  // of |count / n - p| / 2, all cells together
    for (const double density : exact)
        expected +=
            std::sqrt(density * cell * (1 - density * cell) / (2 * std::numbers::pi * static_cast<double>(draws)));
    std::printf("%-38s %10s %16.3f\n", "independent draws, expected", "", expected);
    const auto show = [&](const char* name, const auto& sampler, std::int64_t thin) {
        const Draws run =
            run_chains(potential, sampler, {.draws = draws / 4, .thin = thin, .seed = seed, .show = Show::nothing});
        const Law law = law_of(run["x"]);
        const Tensor<double> acceptance = run.statistic(&ChainRecord::acceptance);
        const double mean = std::accumulate(acceptance.begin(), acceptance.end(), 0.0) / static_cast<double>(draws);
        std::printf("%-38s", name);
        std::isnan(mean) ? std::printf(" %10s", "") : std::printf(" %10.2f", mean);
        std::printf(" %16.3f\n", total_variation(law, exact));
        figure.line(name, middle, law);
    };
    // In the units of the paper steps last t = 0.1 and friction is C = 3. In ours, h = t^2 and a = C t.
    constexpr double t = 0.1, h = t * t, a = 3 * t;
    show("HMC, exact gradients",
         Hmc{.step_size = t, .steps = 50, .metric = MetricKind::unit, .warmup = {.step_size = false}}, 1);
    show("naive stochastic HMC", NaiveSghmc{.step_size = h, .length = 50, .batch = 1}, 1);
    show("naive, with Metropolis", NaiveSghmc{.step_size = h, .length = 50, .batch = 1, .metropolis = true}, 1);
    show("SGHMC, with friction", Sghmc{.step_size = h, .friction = a, .batch = 1, .noise = 4.0}, 50);
    std::printf(
        "\nThe noise heats the naive sampler up. A Metropolis step at the end mends it, at the price of a pass\n"
        "over all data and many rejections; friction mends it without either.\n");
    figure.set("set xrange [-2:2]");
    figure.set("set yrange [0:0.8]");
    figure.save();
}

// ---- 2. Phase space. ----

struct Path {
    std::vector<double> x, r;
};

// dr = -grad U dt - C r dt + N(0, 2 (C - B) dt),  dx = r dt,    B = V dt / 2 what the noise of the gradient brings
// along
struct Dynamics {
    double variance = 0;  // V; 0: exact gradients
    double friction = 0;  // C
    int fresh_every = 0;  // steps from one new momentum to the next

    Path simulate(Potential<double>& potential, std::int64_t steps, std::uint32_t stream) const {
        constexpr double dt = 0.1;
        const double noise = std::sqrt(2 * std::max(0.0, friction - variance * dt / 2) * dt);
        Random random(seed, stream);
        Path path;
        double x = 0, r = 1, slope = 0;
        for (std::int64_t step = 1; step <= steps; ++step) {
            const std::int64_t item = random.below(static_cast<std::uint64_t>(potential.items()));
            if (variance > 0)
                potential.evaluate({&x, 1}, {&slope, 1}, {&item, 1});
            else
                potential.evaluate({&x, 1}, {&slope, 1});
            r += -slope * dt - friction * r * dt + noise * random.normal();
            if (fresh_every > 0 && step % fresh_every == 0) r = random.normal();
            x += r * dt;
            path.x.push_back(x);
            path.r.push_back(r);
        }
        return path;
    }
};

void phase_space(std::int64_t steps) {
    constexpr double variance = 0.25;
    constexpr std::uint32_t paths = 200;
    auto potential = noisy(1, variance, [](std::span<const double> x, std::span<double> slope) {
        if (!slope.empty()) slope[0] = x[0];
        return x[0] * x[0] / 2;
    });
    Figure figure("sghmc_phase_space", "One path each along gradients of U = x^2 / 2", "x", "momentum");
    std::printf("\n2. U = x^2 / 2, noise of sd 0.5, steps of time 0.1, %u paths\n\n", paths);
    std::printf("%-42s %30s\n%-42s", "", "mean energy after so many steps", "");
    for (const std::int64_t part : {1, 2, 3}) std::printf(" %9lld", static_cast<long long>(part * steps / 3));
    const auto show = [&](const char* name, const Dynamics& dynamics, bool drawn) {
        double energy[3] = {};
        for (std::uint32_t stream = 0; stream < paths; ++stream) {
            const Path path = dynamics.simulate(potential, steps, stream);
            for (std::size_t part = 0; part < 3; ++part) {
                const std::size_t k = (part + 1) * path.x.size() / 3 - 1;
                energy[part] += (path.x[k] * path.x[k] + path.r[k] * path.r[k]) / 2 / paths;
            }
            if (stream > 0 || !drawn) continue;
            Path some;
            for (std::size_t k = 0; k < path.x.size(); k += 5) {
                some.x.push_back(path.x[k]);
                some.r.push_back(path.r[k]);
            }
            figure.points(name, some.x, some.r);
        }
        std::printf("\n%-42s %9.2f %9.2f %9.2f", name, energy[0], energy[1], energy[2]);
    };
    show("noise", {.variance = variance}, true);
    show("noise, a fresh momentum every 50 steps", {.variance = variance, .fresh_every = 50}, false);
    // Friction 3, as with the two wells, would show the error of the step, too: C dt = 0.3 is not small, and raises the
    // energy of the momenta.
    show("noise and friction", {.variance = variance, .friction = 1}, true);
    show("neither noise nor friction", {}, true);
    std::printf(
        "\n\nUnder exp(-H) the mean energy is 1, give or take 0.07 in so many paths. Noise adds V dt / 2 = %.4f\n"
        "to it in each unit of time; friction, or a fresh momentum now and then, takes that out again.\n",
        variance * 0.1 / 2);
    figure.set("set key outside below");
    figure.save();
}

// ---- 3. SGLD and SGHMC. ----

void correlated(std::int64_t draws) {
    constexpr double correlation = 0.9;
    const auto potential = noisy(2, 1, [](std::span<const double> x, std::span<double> slope) {
        const double scale = 1 / (1 - correlation * correlation);
        const double g[2] = {scale * (x[0] - correlation * x[1]), scale * (x[1] - correlation * x[0])};
        std::copy_n(g, slope.size(), slope.begin());
        return (x[0] * g[0] + x[1] * g[1]) / 2;
    });
    Figure figure("sghmc_or_sgld", "Two numbers with correlation 0.9: five step sizes each",
                  "autocorrelation time, gradients", "mean error of the covariances");
    std::printf("\n3. Correlation %g, noise of variance 1, %lld draws\n\n", correlation, static_cast<long long>(draws));
    std::printf("%-8s %10s %22s %22s\n", "", "step size", "autocorrelation time", "error of covariances");
    std::vector<double> times, errors;
    const auto show = [&](const char* name, double step, const auto& sampler) {
        const Draws run = run_chains(potential, sampler, {.draws = draws / 4, .seed = seed, .show = Show::nothing});
        const Tensor<double> x = run["x[1]"], y = run["x[2]"];
        const double n = static_cast<double>(x.size());
        const auto moment = [&](const Tensor<double>& a, const Tensor<double>& b) {
            return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / n;
        };
        const double error =
            (std::abs(moment(x, x) - 1) + std::abs(moment(y, y) - 1) + 2 * std::abs(moment(x, y) - correlation)) / 4;
        Tensor<double> squares = x;
        for (double& square : squares.mutable_values()) square *= square;
        times.push_back(n / ess_mean(x));
        errors.push_back(error);
        std::printf("%-8s %10g %22.1f %22.3f +- %.3f\n", name, step, times.back(), error, mcse_mean(squares));
    };
    for (const double e : {0.05, 0.1, 0.15, 0.2, 0.25}) show("SGLD", e, Sgld{.step_size = e, .batch = 1});
    figure.line("SGLD", times, errors);
    figure.crosses("", times, errors);
    times.clear();
    errors.clear();
    // At h = 0.1 frictions from 0.05 to 0.3 do about as well (times of 9 to 11); at h = 0.01 the time goes from 30 to
    // 116.
    for (const double h : {0.01, 0.02, 0.05, 0.1, 0.15})
        show("SGHMC", h, Sghmc{.step_size = h, .friction = 0.1, .batch = 1, .noise = 1.0});
    std::printf("\nBehind +- is what chance does to a variance in so many draws.\n");
    figure.line("SGHMC, friction 0.1", times, errors);
    figure.crosses("", times, errors);
    figure.set("set logscale x");
    figure.set("set xrange [5:200]");
    figure.set("set yrange [0:*]");
    figure.set("set key top right");
    figure.save();
}

int run(const Arguments& arguments) {
    two_wells(arguments.quick ? 800 : 80000);
    phase_space(arguments.quick ? 1500 : 15000);
    correlated(arguments.quick ? 4000 : 1000000);
    return 0;
}

int main(int argc, char** argv) { return run_example(argc, argv, run); }
