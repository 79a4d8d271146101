#include "loss.hpp"

#include "estimate.hpp"
#include "problem.hpp"

#include "../common/figure.hpp"
#include "../common/stage.hpp"
#include "../common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/data/sets/batch_draw.hpp>
#include <pollen/samplers/full_batch/mala.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

using namespace pollen;

namespace {

std::vector<double> counts(std::size_t n) {
    std::vector<double> at(n);
    for (std::size_t k = 0; k < n; ++k) at[k] = static_cast<double>(k);
    return at;
}

void draw_paths(const Problem& problem, std::uint64_t seed, Panel& panel) {
    constexpr double e = 1e-5;
    constexpr std::int64_t steps = 2000;
    const auto draw = [&](const char* name, const Sgld& sampler, double temperature) {
        const std::vector<double> theta = path(problem, sampler, temperature, 0.9, steps, seed);
        panel.line(name, counts(theta.size()), theta);
    };
    const double sd = 1 / std::sqrt(problem.precision);
    panel.band("posterior, two sds", {0, steps}, std::vector<double>(2, problem.mode - 2 * sd),
               std::vector<double>(2, problem.mode + 2 * sd));
    draw("SGLD", {.step_size = e, .batch = batch}, 1);
    draw("SGD", {.step_size = e, .batch = batch}, 0);
    draw("gradient descent", {.step_size = e}, 0);
    panel.set("set yrange [0.3:1]");
}

// The variance of what a step adds to -e/2 grad U, over e in 1 / N.
Estimate noise(const Problem& problem, const std::vector<double>& theta, double e) {
    std::vector<double> squares;
    for (std::size_t t = 0; t + 1 < theta.size(); ++t) {
        const double r = theta[t + 1] - theta[t] + e / 2 * problem.gradient(theta[t]);
        squares.push_back(r * r);
    }
    return Estimate(squares);
}

// 4. The noise of one step: that of the batches goes with e^2, what SGLD injects with e.
void noise_of_a_step(const Example& example, const Problem& problem, std::int64_t steps, Panel& panel) {
    ResultTable table({"rate", "noise of batches", "e^2 V / 4", "injected noise", "e", "the larger"});
    std::vector<double> rates, batches, injected;
    std::uint32_t row = 0;  // random numbers of their own for each
    for (const double e : {1e-3, 1e-4, 4e-5, 1e-5, 1e-6, 1e-7}) {
        const Estimate of_batches = noise(
            problem, path(problem, {.step_size = e, .batch = batch}, 0, problem.mode, steps, example.seed, row), e);
        const Estimate of_injected =
            noise(problem, path(problem, {.step_size = e}, 1, problem.mode, steps, example.seed, row + 100), e);
        // In units of 10^-9, so that a table can show them.
        const auto cell = [](const Estimate& x) {
            const double scaled = x.mean * 1e9;
            return Cell(scaled, x.error * 1e9, scaled < 1 ? 5 : scaled < 1000 ? 2 : 0);
        };
        char name[20];
        std::snprintf(name, sizeof name, "%g", e);
        table.row({name, cell(of_batches), cell({e * e * problem.variance / 4, Cell::none}), cell(of_injected),
                   cell({e, Cell::none}), of_batches.mean > of_injected.mean ? "batches" : "injected"});
        rates.push_back(e);
        batches.push_back(of_batches.mean);
        injected.push_back(of_injected.mean);
        ++row;
    }
    table.show();
    table.save(example.path("brownian_noise"));
    const double low = 3e-8, high = 3e-3, v = problem.variance / 4;
    panel.colour_of("SGD");
    panel.line("e^2 V / 4", {low, high}, {low * low * v, high * high * v});
    panel.colour_of("SGD");
    panel.crosses("of batches", rates, batches);
    panel.colour_of("SGLD");
    panel.line("e", {low, high}, {low, high});
    panel.colour_of("SGLD");
    panel.crosses("injected", rates, injected);
    panel.set("set logscale xy");
    panel.set("set format xy '%.0e'");
    panel.set("set xrange [3e-8:3e-3]");
}

// The variance of theta over chains after each step, beginning with 0 at the mode, for noise that is normal or not:
// v' = (1 - e L / 2)^2 v + e T + e^2 V / 4.
std::vector<double> law_of_variance(const Problem& problem, const Schedule& rate, double temperature,
                                    std::int64_t steps) {
    std::vector<double> v{0};
    for (std::int64_t t = 0; t < steps; ++t) {
        const double e = rate(t), keep = 1 - e * problem.precision / 2;
        v.push_back(keep * keep * v.back() + e * temperature + e * e * problem.variance / 4);
    }
    return v;
}

// The first step before which a run could know that the injected noise is the larger one: from the gradients of the
// items in the batches so far it knows V, and waits for e V / 4 < 1 (Welling & Teh 2011, Section 4.1).
std::int64_t detect(const Problem& problem, const Schedule& rate, std::int64_t steps, std::uint64_t seed,
                    std::uint32_t chain) {
    BatchDraw draw;
    std::vector<std::int64_t> some;
    double sum = 0;
    for (std::int64_t t = 0; t < steps; ++t) {
        Random random = batch_random_of(seed, chain, t);
        draw(random, batch, items, some);
        double mean = 0, squares = 0;  // the gradients are theta - y, and theta changes nothing
        for (const std::int64_t i : some) mean += problem.y[static_cast<std::size_t>(i)] / batch;
        for (const std::int64_t i : some) {
            const double d = problem.y[static_cast<std::size_t>(i)] - mean;
            squares += d * d;
        }
        sum += squares / (batch - 1);
        if (rate(t) * Problem::noise_of(sum / static_cast<double>(t + 1)) / 4 < 1) return t;
    }
    return steps;
}

// 5. A rate that falls: SGD comes to rest, SGLD comes to the posterior.
void falling_rate(const Example& example, const Problem& problem, std::int64_t chains, std::int64_t steps,
                  Panel& panel) {
    const Schedule rate = Schedule::polynomial_between(1e-3, 1e-6, 1, steps);
    std::vector<std::int64_t> when;
    for (double t = 1; t < 1.001 * static_cast<double>(steps); t *= std::sqrt(10.0)) when.push_back(std::lround(t));
    const auto variances = [&](double temperature) {
        std::vector<std::vector<double>> squares(when.size());
        for (std::uint32_t c = 0; c < chains; ++c) {
            const std::vector<double> theta =
                path(problem, {.step_size = rate, .batch = batch}, temperature, problem.mode, steps, example.seed, c);
            for (std::size_t k = 0; k < when.size(); ++k) {
                const double d = theta[static_cast<std::size_t>(when[k])] - problem.mode;
                squares[k].push_back(d * d * problem.precision);
            }
        }
        std::vector<double> mean, error;
        for (const std::vector<double>& s : squares) {
            mean.push_back(Estimate(s).mean);
            error.push_back(Estimate(s).error);
        }
        const Shape shape{std::ssize(when)};
        return Found{{"mean", {shape, mean}}, {"error", {shape, error}}};
    };
    const Found sgd = stage(example, "SGD with a falling rate", [&] { return variances(0); });
    const Found sgld = stage(example, "SGLD with a falling rate", [&] { return variances(1); });
    const std::vector<double> sgd_law = law_of_variance(problem, rate, 0, steps),
                              sgld_law = law_of_variance(problem, rate, 1, steps);
    ResultTable table({"steps", "rate, in 10^-6", "batches / injected", "SGD", "law of SGD", "SGLD", "law of SGLD"});
    std::vector<double> at, sgd_points, sgld_points;
    for (std::int64_t k = 0; k < std::ssize(when); ++k) {
        const auto t = static_cast<std::size_t>(when[static_cast<std::size_t>(k)]);
        const double e = rate(static_cast<std::int64_t>(t) - 1);
        at.push_back(static_cast<double>(t));
        sgd_points.push_back(sgd.at("mean")(k));
        sgld_points.push_back(sgld.at("mean")(k));
        table.row({std::to_string(t),
                   {e * 1e6, 2},
                   {problem.alpha(e), 3},
                   {sgd_points.back(), sgd.at("error")(k), 3},
                   {sgd_law[t] * problem.precision, 3},
                   {sgld_points.back(), sgld.at("error")(k), 3},
                   {sgld_law[t] * problem.precision, 3}});
    }
    table.show();
    table.save(example.path("brownian_falling_rate"));

    std::vector<double> moments;
    for (std::uint32_t c = 0; c < chains; ++c)
        moments.push_back(static_cast<double>(detect(problem, rate, steps, example.seed + 1, c)));
    std::int64_t exact = 0;
    while (problem.alpha(rate(exact)) >= 1) ++exact;
    ResultTable moment({"", "step", "exact"});
    moment.row({"the injected noise takes over", Estimate(moments).cell(1), {static_cast<double>(exact), 0}});
    moment.show();
    moment.save(example.path("brownian_moment"));

    std::vector<double> steps_of_law, sgd_curve, sgld_curve;
    for (double t = 1; t <= static_cast<double>(steps); t *= 1.1) {
        const auto k = static_cast<std::size_t>(t);
        steps_of_law.push_back(static_cast<double>(k));
        sgd_curve.push_back(sgd_law[k] * problem.precision);
        sgld_curve.push_back(sgld_law[k] * problem.precision);
    }
    const auto ends = [](const Found& found, std::vector<double> x, double errors) {
        for (std::size_t k = 0; k < x.size(); ++k) x[k] += errors * found.at("error")(static_cast<std::int64_t>(k));
        return x;
    };
    panel.dashed("posterior", {1, static_cast<double>(steps)}, {1, 1});
    panel.colour_of("SGD");
    panel.line("law of SGD", steps_of_law, sgd_curve);
    panel.intervals("SGD", at, sgd_points, ends(sgd, sgd_points, -1), ends(sgd, sgd_points, 1));
    panel.colour_of("SGLD");
    panel.line("law of SGLD", steps_of_law, sgld_curve);
    panel.intervals("SGLD", at, sgld_points, ends(sgld, sgld_points, -1), ends(sgld, sgld_points, 1));
    panel.colour_of("data");
    const double found = Estimate(moments).mean;
    panel.dashed("injected noise takes over", {found, found}, {0.01, 100});
    panel.set("set logscale xy");
    panel.set("set yrange [0.01:100]");
    panel.set("set xrange [1:" + std::to_string(steps) + "]");
}

// 6. The same over segments of SGLD whose rates add up to the same e0, as in the proof of Welling & Teh: the noise that
// is injected has the variance e0 in each, that of the batches less and less.
void segments(const Example& example, const Problem& problem, std::int64_t chains, std::int64_t steps) {
    constexpr double e0 = 2e-4;
    const Schedule rate = Schedule::polynomial_between(1e-3, 1e-6, 1, steps);
    struct Segment {
        std::int64_t first = 0, steps = 0;
        double total = 0, law = 0;  // of the rates; the variance of the batches' noise
    };
    std::vector<Segment> all;
    for (const double share : {0.01, 0.03, 0.1, 0.3, 0.9}) {
        Segment s{.first = std::lround(share * static_cast<double>(steps))};
        for (; s.total < e0; ++s.steps) {
            const double e = rate(s.first + s.steps);
            s.total += e;
            s.law += e * e / 4 * problem.variance;
        }
        all.push_back(s);
    }
    const Found run = stage(example, "segments", [&] {
        std::vector<std::vector<double>> squares(all.size());
        for (std::uint32_t c = 0; c < chains; ++c) {
            // At T = 0 only the noise of the batches is left.
            const std::vector<double> theta =
                path(problem, {.step_size = rate, .batch = batch}, 0, problem.mode, steps, example.seed + 2, c);
            for (std::size_t k = 0; k < all.size(); ++k) {
                double sum = 0;
                for (std::int64_t t = all[k].first; t < all[k].first + all[k].steps; ++t) {
                    const auto i = static_cast<std::size_t>(t);
                    sum += theta[i + 1] - theta[i] + rate(t) / 2 * problem.gradient(theta[i]);
                }
                squares[k].push_back(sum * sum);
            }
        }
        std::vector<double> mean, error;
        for (const std::vector<double>& s : squares) {
            mean.push_back(Estimate(s).mean);
            error.push_back(Estimate(s).error);
        }
        const Shape shape{std::ssize(all)};
        return Found{{"mean", {shape, mean}}, {"error", {shape, error}}};
    });
    ResultTable table({"first step", "steps", "sum of rates, in 10^-6", "batches / injected", "its law"});
    for (std::size_t k = 0; k < all.size(); ++k) {
        const auto i = static_cast<std::int64_t>(k);
        table.row({std::to_string(all[k].first),
                   {static_cast<double>(all[k].steps), 0},
                   {all[k].total * 1e6, 1},
                   (Estimate(run.at("mean")(i), run.at("error")(i)) / all[k].total).cell(4),
                   {all[k].law / all[k].total, 4}});
    }
    table.show();
    table.save(example.path("brownian_segments"));
}

// 7. The acceptance of a Langevin step, if one asks for it, and what goes wrong if one does not. On a normal density a
// leapfrog step of size d = sqrt(e L) has the singular values s and 1/s with s - 1/s = d^3 / 4, and is accepted with
// the mean probability 2 P(H* < H) = 4/pi atan(1/s).
void acceptance(const Example& example, const Problem& problem, std::int64_t draws, Panel& panel) {
    ResultTable table({"e L", "acceptance", "its law", "1 - acceptance", "SGLD: variance / posterior", "law of SGLD"});
    RunOptions options{
        .warmup = 100, .draws = draws, .seed = example.seed, .starts = {{problem.mode}}, .show = Show::nothing};
    std::vector<double> rates, refused, law_rates, law;
    const auto refusal = [](double x) {
        const double q = std::sqrt(x) * x / 8, s = q + std::sqrt(1 + q * q);
        return 1 - 4 / std::numbers::pi * math::atan(1 / s);
    };
    for (const double x : {2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02}) {
        char name[20];
        std::snprintf(name, sizeof name, "%g", x);
        const double e = x / problem.precision;
        const Found run = stage(example, "acceptance at " + std::string(name), [&] {
            const auto potential = problem.potential(1);
            options.thin = 1;
            const Draws exact = unless_stopped(run_chains(
                *potential, Mala{.step_size = e, .metric = MetricKind::unit, .warmup = {.step_size = false}}, options));
            options.thin = std::lround(std::max(1.0, 1 / x));  // so that draws are nearly independent
            const Draws never = unless_stopped(run_chains(*potential, Sgld{.step_size = e}, options));
            const QuantitySummary a = summarise(Chains(exact.statistic(&ChainRecord::acceptance)));
            Tensor<double> squares = never["x[1]"];
            for (double& v : squares.mutable_values()) v = (v - problem.mode) * (v - problem.mode) * problem.precision;
            const QuantitySummary s = summarise(Chains(squares));
            return Found{{"a", {a.mean, a.mcse}}, {"s", {s.mean, s.mcse}}};
        });
        const Tensor<double>&a = run.at("a"), &s = run.at("s");
        table.row({name, {a(0), a(1), 5}, {1 - refusal(x), 5}, {1 - a(0), 5}, {s(0), s(1), 3}, {1 / (1 - x / 4), 3}});
        rates.push_back(x);
        refused.push_back(1 - a(0));
    }
    table.show();
    table.save(example.path("brownian_acceptance"));
    for (double x = 0.01; x < 3; x *= 1.2) {
        law_rates.push_back(x);
        law.push_back(refusal(x));
    }
    panel.line("law", law_rates, law);
    panel.crosses("measured", rates, refused);
    panel.set("set logscale xy");
    panel.set("set xrange [0.01:3]");
    panel.set("set yrange [0.00001:1]");
    panel.set("set format y '%g'");
}

}  // namespace

void walk_on_loss(const Example& example, std::int64_t chains, std::int64_t steps, bool slip) {
    const Problem problem(example.seed, slip);
    Figure figure(example.path("brownian_loss"), 2);
    draw_paths(problem, example.seed, figure.panel("Three walks with the rate 10^-5", "steps", "theta"));
    std::printf("4. The noise of a step, variances in 10^-9; V = %.0f\n", problem.variance);
    noise_of_a_step(example, problem, steps, figure.panel("Noise of one step", "rate e", "variance"));
    std::printf("The noise of the batches falls with the square of the rate, what is injected with the rate.\n\n");
    std::printf("5. A rate that falls; mean squares of theta - mode, in units of the posterior variance, %lld chains\n",
                static_cast<long long>(chains));
    falling_rate(example, problem, chains, steps, figure.panel("A rate that falls", "steps", "variance / posterior"));
    std::printf("SGD comes to rest, SGLD comes to the posterior.\n\n6. Segments whose rates add up to %g\n", 2e-4);
    segments(example, problem, chains, steps);
    std::printf("\n7. Metropolis acceptance of a Langevin step, and SGLD on all data, which never asks for it\n");
    acceptance(example, problem, steps, figure.panel("Rejections", "e L", "share rejected"));
    figure.save();
}
