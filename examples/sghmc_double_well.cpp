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
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

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
constexpr double first_cell = -2.5, last_cell = 2.5, cell = (last_cell - first_cell) / cells;

// Half the sum of all differences of probabilities: 0 for the same law, 1 for laws without anything in common. What is
// outside the cells counts, too.
double total_variation(const BinnedDraws& p, const BinnedDraws& q) {
    double difference = 0, outside = 0;
    for (std::size_t k = 0; k < cells; ++k) {
        difference += std::abs(p.density[k] - q.density[k]) * cell;
        outside += (p.density[k] - q.density[k]) * cell;
    }
    return (difference + std::abs(outside)) / 2;
}

// exp(-U) over its integral, and the mean of x^2 under it.
struct Exact {
    std::vector<double> x, weight;
    double mean_square = 0;

    explicit Exact(Potential<double>& potential) {
        constexpr int parts = 20;
        for (int k = 0; k < cells * parts; ++k) {
            x.push_back(first_cell + (k + 0.5) * cell / parts);
            weight.push_back(std::exp(-potential.evaluate({&x.back(), 1}, {}).total()));
        }
        const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
        for (std::size_t k = 0; k < x.size(); ++k) mean_square += x[k] * x[k] * weight[k] / total;
    }
    BinnedDraws histogram() const { return {x, first_cell, last_cell, cells, weight}; }
};

// What chance does to the total variation of so many independent draws: the sum of all E |count / n - p| / 2.
double expected_variation(const BinnedDraws& exact, double draws) {
    double sum = 0;
    for (const double density : exact.density)
        sum += std::sqrt(density * cell * (1 - density * cell) / (2 * std::numbers::pi * draws));
    return sum;
}

Tensor<double> squares(Tensor<double> x) {
    for (double& value : x.mutable_values()) value *= value;
    return x;
}

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
    std::printf("1. Two wells, %lld draws in 4 chains, 50 steps a draw\n", static_cast<long long>(draws));
    ResultTable table({"sampler", "acceptance", "mean of x^2", "total variation"});
    table.row({"independent draws, expected",
               "",
               {law.mean_square, 3},
               {expected_variation(exact, static_cast<double>(draws)), 3}});
    for (Panel* panel : {&without, &with}) {
        panel->steps("exact", exact.begin, exact.density);
        panel->set("set xrange [-2:2]");
        panel->set("set yrange [0:0.9]");
    }
    const auto show = [&](Panel& panel, const char* name, const auto& sampler, std::int64_t thin) {
        const Draws run = unless_stopped(run_chains(
            potential, sampler, {.draws = draws / 4, .thin = thin, .seed = example.seed, .show = Show::nothing}));
        const Tensor<double> x = run["x[1]"], acceptance = run.statistic(&ChainRecord::acceptance);
        const QuantitySummary square = summarise(Chains(squares(x)));
        const BinnedDraws found({x.begin(), x.end()}, first_cell, last_cell, cells);
        const double mean =
            std::accumulate(acceptance.begin(), acceptance.end(), 0.0) / static_cast<double>(acceptance.size());
        table.row({name, {mean, 2}, {square.mean, square.mcse, 3}, {total_variation(found, exact), 3}});
        panel.line(name, found.middle, found.density);
    };
    // In the units of the paper steps last t = 0.1 and friction is C = 3. In ours, h = t^2 and a = C t.
    constexpr double t = 0.1, h = t * t, a = 3 * t;
    show(without, "HMC", Hmc{.step_size = t, .steps = 50, .metric = MetricKind::unit, .warmup = {.step_size = false}},
         1);
    show(without, "HMC, never rejected", NaiveSghmc{.step_size = h, .length = 50}, 1);
    show(with, "naive", NaiveSghmc{.step_size = h, .length = 50, .batch = 1}, 1);
    show(with, "naive, with Metropolis", NaiveSghmc{.step_size = h, .length = 50, .batch = 1, .metropolis = true}, 1);
    show(with, "SGHMC, with friction", Sghmc{.step_size = h, .friction = a, .batch = 1, .noise = 4.0}, 50);
    table.show();
    table.save(example.path("sghmc_double_well"));
    std::printf(
        "With exact gradients the Metropolis step at the end hardly matters: leapfrog steps keep the energy. Noise in\n"
        "the gradients heats the naive sampler up. A Metropolis step mends that, at the price of a pass over all data\n"
        "and many rejections; friction mends it without either.\n");
    figure.save();
}

// ---- 2. Phase space. ----

// dr = -grad U dt - C r dt + N(0, 2 (C - B) dt),  dx = r dt,    B = V dt / 2 what the noise of the gradient brings
// along
struct Dynamics {
    double variance = 0;  // V; 0: exact gradients
    double friction = 0;  // C
    int fresh_every = 0;  // steps from one new momentum to the next

    static constexpr double dt = 0.1;

    // Calls use(step, x, r) after each step.
    template <class Use>
    void simulate(Potential<double>& potential, std::int64_t steps, Random random, const Use& use) const {
        const double noise = std::sqrt(2 * std::max(0.0, friction - variance * dt / 2) * dt);
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
            use(step, x, r);
        }
    }
};

void phase_space(const Example& example, std::int64_t steps) {
    constexpr double variance = 0.25;
    constexpr std::uint32_t paths = 200;
    auto potential = noisy(1, variance, [](std::span<const double> x, std::span<double> slope) {
        if (!slope.empty()) slope[0] = x[0];
        return x[0] * x[0] / 2;
    });
    Figure figure(example.path("sghmc_phase_space"), 2);
    figure.panel_size(400, 360);
    std::printf("\n2. U = x^2 / 2, noise of sd 0.5, steps of time 0.1, %u paths\n", paths);
    ResultTable table({"dynamics", "mean energy at 1/3", "at 2/3", "at the end", "expected at the end"});
    const auto show = [&](const char* name, const Dynamics& dynamics, double expected) {
        Tensor<double> energy = Tensor<double>::zeros({3, paths});
        std::vector<double> x, r;
        for (std::uint32_t stream = 0; stream < paths; ++stream)
            dynamics.simulate(potential, steps, Random(example.seed, stream),
                              [&](std::int64_t step, double at, double momentum) {
                                  for (const std::int64_t third : {1, 2, 3})
                                      if (step == third * steps / 3)
                                          energy(third - 1, stream) = (at * at + momentum * momentum) / 2;
                                  if (stream > 0 || step % (steps / 300) != 0) return;
                                  x.push_back(at);
                                  r.push_back(momentum);
                              });
        const auto mean = [&](std::int64_t third) {
            const std::span<const double> all(energy.data() + third * paths, paths);
            const double m = std::accumulate(all.begin(), all.end(), 0.0) / paths;
            const double square = std::inner_product(all.begin(), all.end(), all.begin(), 0.0) / paths;
            return Cell(m, std::sqrt(std::max(0.0, square - m * m) / paths), 2);
        };
        table.row({name, mean(0), mean(1), mean(2), {expected, 2}});
        Panel& panel = figure.panel(name, "x", "momentum");
        panel.points("", x, r);
        panel.set("set xrange [-8:8]");
        panel.set("set yrange [-8:8]");
        panel.set("set size square");
    };
    // Noise adds V dt / 2 to the energy in each unit of time. With a fresh momentum after t = 5, of which sin(t) turns
    // into position, the variance of x ends where it is 1 + V dt (t/2 - sin(2t)/4) / sin(t)^2.
    const double heat = variance * Dynamics::dt / 2, time = static_cast<double>(steps) * Dynamics::dt;
    const double fresh = 1 + variance * Dynamics::dt * (2.5 - std::sin(10.0) / 4) / std::pow(std::sin(5.0), 2);
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
        "fresh momentum now and then, takes that out again. Without either the energy stays what it was.\n",
        heat);
    figure.save();
}

// ---- 3. SGLD and SGHMC. ----

constexpr double correlation = 0.9;

// A stochastic-gradient sampler has a law of its own on a Gaussian, of variance s along one of its axes; here T = V
// = 1.

// SGLD: with c = e / (2 s), (e + e^2 / 4) / (2c - c^2)
double sgld_variance(double e, double s) {
    const double c = e / (2 * s);
    return (e + e * e / 4) / (2 * c - c * c);
}

// SGHMC: P = A P A' + Q for (x, v), where theta += v with the v of this step, by iteration
//
//     A = [1 - h/s, 1 - a; -h/s, 1 - a],    Q = (2h (a - h/2) + h^2) [1, 1; 1, 1] = 2h a [1, 1; 1, 1]
double sghmc_variance(double h, double a, double s) {
    double xx = s, xv = 0, vv = h;
    for (int k = 0; k < 100000; ++k) {
        const double p = 1 - h / s, q = -h / s, f = 1 - a, noise = 2 * h * a;
        const double new_xx = p * p * xx + 2 * p * f * xv + f * f * vv + noise;
        const double new_xv = p * q * xx + (p + q) * f * xv + f * f * vv + noise;
        vv = q * q * xx + 2 * q * f * xv + f * f * vv + noise;
        xx = new_xx;
        xv = new_xv;
    }
    return xx;
}

// The mean error of the four covariances, from the variances along the axes (1, 1) and (1, -1).
double covariance_error(double along, double across) {
    return (std::abs((along + across) / 2 - 1) + std::abs((along - across) / 2 - correlation)) / 2;
}

void correlated(const Example& example, std::int64_t draws) {
    const auto potential = noisy(2, 1, [](std::span<const double> x, std::span<double> slope) {
        const double scale = 1 / (1 - correlation * correlation);
        const double g[2] = {scale * (x[0] - correlation * x[1]), scale * (x[1] - correlation * x[0])};
        std::copy_n(g, slope.size(), slope.begin());
        return (x[0] * g[0] + x[1] * g[1]) / 2;
    });
    Figure figure(example.path("sghmc_or_sgld"), 2);
    Panel& trade = figure.panel("Two numbers with correlation 0.9: five step sizes each",
                                "autocorrelation time, gradients", "mean error of the covariances");
    std::printf("\n3. Correlation %g, noise of variance 1, %lld draws\n", correlation, static_cast<long long>(draws));
    ResultTable table({"sampler", "autocorrelation time", "error of covariances", "its law's"});
    std::vector<double> times, errors;
    const auto show = [&](const std::string& name, const auto& sampler, double expected) {
        const Draws run = unless_stopped(
            run_chains(potential, sampler, {.draws = draws / 4, .seed = example.seed, .show = Show::nothing}));
        const Tensor<double> x = run["x[1]"], y = run["x[2]"];
        const double n = static_cast<double>(x.size());
        const auto moment = [&](const Tensor<double>& a, const Tensor<double>& b) {
            return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / n;
        };
        const double error =
            (std::abs(moment(x, x) - 1) + std::abs(moment(y, y) - 1) + 2 * std::abs(moment(x, y) - correlation)) / 4;
        times.push_back(n / ess_mean(x));
        errors.push_back(error);
        table.row({name, {times.back(), 1}, {error, mcse_mean(squares(x)), 3}, {expected, 3}});
    };
    const auto draw = [&](const char* name) {
        trade.line(name, times, errors);
        trade.crosses("", times, errors);
        times.clear();
        errors.clear();
    };
    for (const char* e : {"0.05", "0.1", "0.15", "0.2", "0.25"})
        show("SGLD, step " + std::string(e), Sgld{.step_size = std::stod(e), .batch = 1},
             covariance_error(sgld_variance(std::stod(e), 1.9), sgld_variance(std::stod(e), 0.1)));
    draw("SGLD");
    // At h = 0.1 frictions from 0.05 to 0.3 do about as well (times of 9 to 11); at h = 0.01 the time goes from 30 to
    // 116.
    for (const char* h : {"0.01", "0.02", "0.05", "0.1", "0.15"})
        show("SGHMC, step " + std::string(h),
             Sghmc{.step_size = std::stod(h), .friction = 0.1, .batch = 1, .noise = 1.0},
             covariance_error(sghmc_variance(std::stod(h), 0.1, 1.9), sghmc_variance(std::stod(h), 0.1, 0.1)));
    draw("SGHMC, friction 0.1");
    trade.set("set logscale x");
    trade.set("set xrange [5:200]");
    trade.set("set yrange [0:0.14]");
    trade.set("set key top right");
    table.show();
    table.save(example.path("sghmc_or_sgld"));
    std::printf(
        "Behind +- is what chance does to a variance in so many draws. SGHMC is both faster and nearer: its momentum\n"
        "goes on where SGLD turns round. (Its times are on the safe side. The estimate stops where an autocorrelation\n"
        "turns negative, as it does when the momentum swings back; exact sums go from 36 to 2.3.)\n");

    Panel& ellipse = figure.panel("The first 50 steps of each from the middle", "x_1", "x_2");
    std::vector<double> ring_x, ring_y;
    for (int k = 0; k <= 100; ++k) {  // two sds
        const double angle = 2 * std::numbers::pi * k / 100, u = 2 * std::cos(angle), v = 2 * std::sin(angle);
        ring_x.push_back(u);
        ring_y.push_back(correlation * u + std::sqrt(1 - correlation * correlation) * v);
    }
    const auto walk = [&](const char* name, const auto& sampler) {
        const Draws run = unless_stopped(run_chains(potential, sampler,
                                                    {.chains = 1,
                                                     .warmup = 0,
                                                     .draws = 50,
                                                     .seed = example.seed + 1,
                                                     .starts = {{0, 0}},
                                                     .show = Show::nothing}));
        const Tensor<double> x = run["x[1]"], y = run["x[2]"];
        ellipse.line(name, {x.begin(), x.end()}, {y.begin(), y.end()});
        ellipse.points("", {x.begin(), x.end()}, {y.begin(), y.end()});
    };
    walk("SGLD, step 0.05", Sgld{.step_size = 0.05, .batch = 1});
    walk("SGHMC, step 0.1", Sghmc{.step_size = 0.1, .friction = 0.1, .batch = 1, .noise = 1.0});
    ellipse.colour(7);
    ellipse.line("two sds", ring_x, ring_y);
    ellipse.set("set xrange [-3:3]");
    ellipse.set("set yrange [-3:4]");
    figure.save();
}

int main(int argc, char** argv) {
    Example example("Noise in the gradients of Hamiltonian Monte Carlo, and the friction that mends it.", "1 minute");
    std::int64_t draws = 80000, steps = 15000, walk = 1000000;
    example.option("--draws", draws, 8000, "of each sampler from the two wells");
    example.option("--steps", steps, 1500, "of each path in phase space");
    example.option("--walk", walk, 100000, "steps of SGLD and SGHMC on the correlated numbers");
    return example.run(argc, argv, [&] {
        if (steps < 300) throw ValueError("a path is drawn as 300 points: --steps 300 at least");
        two_wells(example, draws);
        phase_space(example, steps);
        correlated(example, walk);
    });
}
