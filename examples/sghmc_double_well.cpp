// What noise in the gradient does to Hamiltonian Monte Carlo, and the friction that mends it: the three experiments of
// Chen, Fox & Guestrin, Stochastic gradient Hamiltonian Monte Carlo, 2014, Figures 1 to 3.
//
//     ./run example sghmc_double_well
//
//     1  two wells, U = -2x^2 + x^4: HMC along noisy gradients draws from another law; with friction it is right
//     2  U = x^2 / 2: noise drives the energy up without end; friction takes out what noise puts in
//     3  two correlated numbers: SGLD and SGHMC, how fast they move and how wrong they are
//     4  momentum descent with noise of any size: for which size it is a sampler (sghmc_double_well/first_attempt.hpp)
//
// Expected output: four tables and three figures, sghmc_double_well, sghmc_phase_space and sghmc_or_sgld. The naive
// sampler's total variation is 0.14, the others' is what 80,000 draws leave to chance, about 0.01. The energy that
// noise drives up goes from 0.5 to 21 (its law: 19), with friction it is 1. Where both err by 0.02, the autocorrelation
// time of x is some 140 gradients for SGLD and 9 for SGHMC.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/seeds.hpp"
#include "common/stage.hpp"
#include "common/table.hpp"
#include "sghmc_double_well/dynamics.hpp"
#include "sghmc_double_well/first_attempt.hpp"
#include "sghmc_double_well/histogram.hpp"
#include "sghmc_double_well/laws.hpp"
#include "sghmc_double_well/noisy.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/minibatch/naive_sghmc.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>

using namespace pollen;

double mean_product(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / static_cast<double>(a.size());
}

Tensor<double> squares(Tensor<double> x) {
    for (double& value : x.mutable_values()) value *= value;
    return x;
}

// 1. U = -2x^2 + x^4, and gradients with noise of variance 4.
void two_wells(const Example& example, std::int64_t draws) {
    auto potential = noisy(1, 4, [](std::span<const double> x, std::span<double> slope) {
        const double square = x[0] * x[0];
        if (!slope.empty()) slope[0] = 4 * x[0] * (square - 1);
        return square * (square - 2);
    });
    const Exact law(potential);
    const BinnedDraws exact = law.histogram();
    Figure figure(example.path("sghmc_double_well"), 2);
    Panel& without = figure.panel("Exact gradients", "x", "density");
    Panel& with = figure.panel("Gradients with noise of variance 4", "x", "density");
    for (Panel* panel : {&without, &with}) {
        panel->steps("exact", exact.begin, exact.density);
        panel->set("set xrange [-2:2]");
        panel->set("set yrange [0:0.6]");
    }
    std::printf("1. Two wells, %lld draws in 4 chains, 50 steps a draw\n", static_cast<long long>(draws));
    ResultTable table({"sampler", "acceptance", "mean of x^2", "total variation"});
    table.row({"independent draws, expected",
               "",
               {law.mean_square, 3},
               {expected_variation(exact, static_cast<double>(draws)), 3}});
    const auto show = [&](Panel& panel, const char* name, const auto& sampler, std::int64_t thin = 1) {
        const Found run = stage(example, name, [&] {
            const Draws found = unless_stopped(run_chains(
                potential, sampler, {.draws = draws / 4, .thin = thin, .seed = example.seed, .show = Show::nothing}));
            return Found{{"x", found["x[1]"]}, {"acceptance", found.statistic(&ChainRecord::acceptance)}};
        });
        const Tensor<double>&x = run.at("x"), &acceptance = run.at("acceptance");
        const QuantitySummary square = summarise(Chains(squares(x)));
        const BinnedDraws found = histogram(x);
        table.row({name, {mean_of(acceptance), 2}, {square.mean, square.mcse, 3}, {total_variation(found, exact), 3}});
        if (name == std::string("HMC, never rejected"))
            panel.dashed(name, found.middle, found.density);
        else
            panel.line(name, found.middle, found.density);
    };
    // In the units of the paper steps last t = 0.1 and friction is C = 3. In ours, h = t^2 and a = C t.
    constexpr double t = 0.1, h = t * t, a = 3 * t;
    show(without, "HMC", Hmc{.step_size = t, .steps = 50, .metric = MetricKind::unit, .warmup = {.step_size = false}});
    show(without, "HMC, never rejected", NaiveSghmc{.step_size = h, .length = 50});
    show(with, "naive", NaiveSghmc{.step_size = h, .length = 50, .batch = 1});
    show(with, "naive, with Metropolis", NaiveSghmc{.step_size = h, .length = 50, .batch = 1, .metropolis = true});
    show(with, "SGHMC, with friction", Sghmc{.step_size = h, .friction = a, .batch = 1, .noise = 4.0}, 50);
    table.show();
    table.save(example.path("sghmc_double_well"));
    std::printf(
        "With exact gradients the Metropolis step at the end hardly matters: leapfrog steps keep the energy. Noise in\n"
        "the gradients heats the naive sampler up. A Metropolis step mends that, at the price of a pass over all data\n"
        "and many rejections; friction mends it without either.\n");
    figure.save();
}

// 2. U = x^2 / 2: the paths of (x, momentum), and their energy H = U + momentum^2 / 2.
void phase_space(const Example& example, std::int64_t steps) {
    constexpr double variance = 0.25, dt = Dynamics::dt;
    constexpr std::uint32_t paths = 200;
    auto potential = noisy(1, variance, [](std::span<const double> x, std::span<double> slope) {
        if (!slope.empty()) slope[0] = x[0];
        return x[0] * x[0] / 2;
    });
    Figure figure(example.path("sghmc_phase_space"), 2);
    figure.panel_size(440, 380);
    std::printf("\n2. U = x^2 / 2, noise of sd 0.5, steps of time 0.1, %u paths\n", paths);
    ResultTable table({"dynamics", "mean energy at 1/3", "at 2/3", "at the end", "expected at the end"});
    const auto show = [&](const char* name, const Dynamics& dynamics, double expected) {
        std::array<std::vector<double>, 3> energy;  // after each third of the steps, of all paths
        Panel& panel = figure.panel(name, "x", "momentum");
        for (std::uint32_t stream = 0; stream < paths; ++stream) {
            const Dynamics::Path path = dynamics.path(potential, steps, Random(example.seed, stream));
            const std::size_t third = path.x.size() / 3, every = path.x.size() / 300;
            for (std::size_t k = 0; k < 3; ++k) energy[k].push_back(path.energy((k + 1) * third));
            if (stream > 0) continue;
            const std::array<const char*, 3> when{"first third of the time", "second third", "last third"};
            for (const std::size_t part : {0, 1, 2}) {
                std::vector<double> x, r;
                for (std::size_t k = part * third + every - 1; k < (part + 1) * third; k += every) {
                    x.push_back(path.x[k]);
                    r.push_back(path.r[k]);
                }
                panel.points(when[part], x, r);
            }
        }
        const auto cell = [&](std::size_t k) {
            const double m = mean_of(energy[k]), variance_of_one = mean_product(energy[k], energy[k]) - m * m;
            return Cell(m, std::sqrt(std::max(0.0, variance_of_one) / paths), 2);
        };
        table.row({name, cell(0), cell(1), cell(2), {expected, 2}});
        panel.set("set xrange [-7:7]");
        panel.set("set yrange [-7:7]");
        panel.set("set size square");
    };
    // Noise adds V dt / 2 to the energy in each unit of time. With a fresh momentum after t = 5, of which sin(t) turns
    // into position, the variance of x ends where it is 1 + V dt (t/2 - sin(2t)/4) / sin(t)^2.
    const double heat = variance * dt / 2, time = static_cast<double>(steps) * dt;
    const double fresh = 1 + variance * dt * (2.5 - math::sin(10.0) / 4) / (math::sin(5.0) * math::sin(5.0));
    show("noise", {.variance = variance}, 0.5 + heat * time);
    show("noise, a fresh momentum every 50 steps", {.variance = variance, .fresh_every = 50}, (1 + fresh) / 2);
    // Friction 3, as with the two wells, would show the error of the step, too: C dt = 0.3 is not small, and raises the
    // energy of the momenta.
    show("noise and friction", {.variance = variance, .friction = 1}, 1);
    show("neither noise nor friction", {}, 0.5);
    table.show();
    table.save(example.path("sghmc_phase_space"));
    std::printf(
        "Under exp(-H) the mean energy is 1. Noise adds V dt / 2 = %.4f to it in each unit of time; friction, or a\n"
        "fresh momentum now and then, takes that out again. Without either the energy stays what it was; steps of\n"
        "0.1 move it to and fro by 5 %%.\n",
        heat);
    figure.save();
}

// Both at the steps at which they err by 0.02, and an ellipse of two standard deviations.
void draw_walks(Panel& panel, const FunctionPotential<double>& potential, std::uint64_t seed) {
    const auto walk = [&](const char* name, const auto& sampler) {
        const Draws run = unless_stopped(run_chains(
            potential, sampler,
            {.chains = 1, .warmup = 0, .draws = 50, .seed = seed + 1, .starts = {{0, 0}}, .show = Show::nothing}));
        const Tensor<double> x = run["x[1]"], y = run["x[2]"];
        panel.line(name, {x.begin(), x.end()}, {y.begin(), y.end()});
        panel.points("", {x.begin(), x.end()}, {y.begin(), y.end()});
    };
    walk("SGLD, step 0.05", Sgld{.step_size = 0.05, .batch = 1});
    walk("SGHMC, step 0.1", Sghmc{.step_size = 0.1, .friction = 0.1, .batch = 1, .noise = 1.0});
    std::vector<double> ring_x, ring_y;
    for (int k = 0; k <= 100; ++k) {
        const double angle = 2 * std::numbers::pi * k / 100, u = 2 * math::cos(angle), v = 2 * math::sin(angle);
        ring_x.push_back(u);
        ring_y.push_back(correlation * u + std::sqrt(1 - correlation * correlation) * v);
    }
    panel.line("posterior, two sds", ring_x, ring_y);
    panel.set("set xrange [-3:3]");
    panel.set("set yrange [-3:3]");
}

// 3. U = (x_1^2 - 2 c x_1 x_2 + x_2^2) / (2 (1 - c^2)) with the correlation c.
void correlated(const Example& example, std::int64_t draws) {
    const auto potential = noisy(2, 1, [](std::span<const double> x, std::span<double> slope) {
        const double scale = 1 / (1 - correlation * correlation);
        const double g[2] = {scale * (x[0] - correlation * x[1]), scale * (x[1] - correlation * x[0])};
        std::copy_n(g, slope.size(), slope.begin());
        return (x[0] * g[0] + x[1] * g[1]) / 2;
    });
    Figure figure(example.path("sghmc_or_sgld"), 2);
    Panel& trade = figure.panel("Five step sizes each", "autocorrelation time, gradients", "error of the covariances");
    std::printf("\n3. Correlation %g, noise of variance 1, %lld draws\n", correlation, static_cast<long long>(draws));
    ResultTable table({"sampler", "autocorrelation time", "error of covariances", "its law's"});
    std::vector<double> times, errors;
    const auto show = [&](const std::string& name, const auto& sampler, double expected) {
        const Found run = stage(example, name, [&] {
            const Draws found = unless_stopped(
                run_chains(potential, sampler, {.draws = draws / 4, .seed = example.seed, .show = Show::nothing}));
            const Tensor<double> x = found["x[1]"], y = found["x[2]"];
            const double error = (std::abs(mean_product(x, x) - 1) + std::abs(mean_product(y, y) - 1) +
                                  2 * std::abs(mean_product(x, y) - correlation)) /
                                 4;
            return Found{{"time", {static_cast<double>(x.size()) / ess_mean(x)}},
                         {"error", {error}},
                         {"chance", {mcse_mean(squares(x))}}};
        });
        times.push_back(run.at("time").item());
        errors.push_back(run.at("error").item());
        table.row({name, {times.back(), 1}, {errors.back(), run.at("chance").item(), 3}, {expected, 3}});
    };
    const auto draw = [&](const char* name) {
        trade.line(name, times, errors);
        trade.crosses("", times, errors);
        times.clear();
        errors.clear();
    };
    for (const char* step : {"0.05", "0.1", "0.15", "0.2", "0.25"}) {
        const double e = std::stod(step);
        show("SGLD, step " + std::string(step), Sgld{.step_size = e, .batch = 1}, sgld_covariance_error(e));
    }
    draw("SGLD");
    // The exact time of the mean of x goes with the friction. Less would be better for it, but not for x^2: the energy
    // changes by friction and noise alone.
    for (const char* step : {"0.01", "0.02", "0.05", "0.1", "0.15"}) {
        const double h = std::stod(step), a = 0.1;
        show("SGHMC, step " + std::string(step), Sghmc{.step_size = h, .friction = a, .batch = 1, .noise = 1.0},
             sghmc_covariance_error(h, a));
    }
    draw("SGHMC, friction 0.1");
    trade.set("set logscale x");
    trade.set("set xrange [5:200]");
    trade.set("set yrange [0:0.14]");
    table.show();
    table.save(example.path("sghmc_or_sgld"));
    std::printf(
        "Behind +- is what chance does to a variance in so many draws. SGHMC is both faster and nearer: its momentum\n"
        "goes on where SGLD turns round. Times are those of the mean of x_1, on the safe side for SGHMC: the estimate\n"
        "stops where an autocorrelation turns negative, as it does when the momentum swings back; exact sums go from\n"
        "36 to 2.3. For variances the gain is smaller: compare the +-.\n");
    draw_walks(figure.panel("The first 50 steps of each", "x_1", "x_2"), potential, example.seed);
    figure.save();
}

int main(int argc, char** argv) {
    Example example("Noise in the gradients of Hamiltonian Monte Carlo, and the friction that mends it.", "20 seconds");
    std::int64_t draws = 80000, steps = 15000, walk = 1000000;
    bool slip = false;
    example.option("--draws", draws, 8000, "of each sampler from the two wells", 400);
    example.option("--steps", steps, 1500, "of each path in phase space; a multiple of 300");
    example.option("--walk", walk, 100000, "steps of SGLD and SGHMC on the correlated numbers", 400);
    example.flag("--slip", slip, "a broken twin for the tests: sigma^2 for sigma in the first attempt");
    return example.run(argc, argv, [&] {
        if (steps < 300 || steps % 300 != 0)
            throw ValueError("--steps is " + std::to_string(steps) + "; paths of a multiple of 300 are drawn");
        two_wells(example, draws);
        phase_space(example, steps);
        correlated(example, walk);
        first_attempt(example, walk, slip);
    });
}
