#include "grain.hpp"

#include "estimate.hpp"

#include "../common/figure.hpp"
#include "../common/stage.hpp"
#include "../common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/potentials/function_potential.hpp>
#include <pollen/samplers/full_batch/kinetic_langevin.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

using namespace pollen;

namespace {

// What a grain and its water are. `stiffness` is that of a trap U = stiffness x^2 / 2 around the place x = 0.
struct Water {
    double kT = 1, gamma = 1, mass = 1, stiffness = 0;

    double rate() const { return gamma / mass; }  // at which the velocity is forgotten
    double D() const { return kT / gamma; }
    KineticLangevin sampler(double h) const {
        return {.step_size = h, .friction = rate(), .inverse_metric = {1 / mass}};
    }
    // <x^2> a time t after x = 0, without a trap.
    double square(double t) const {
        const double tau = rate() * t;
        return 2 * kT * mass / (gamma * gamma) * (tau + math::expm1(-tau));
    }
};

// Grains that do not meet are coordinates of one potential, each with its own random numbers.
std::unique_ptr<Potential<double>> potential_of(const Water& water, std::int64_t coordinates) {
    auto potential = std::make_unique<FunctionPotential<double>>(
        coordinates, [k = water.stiffness](std::span<const double> x, std::span<double> slope) {
            double u = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                if (!slope.empty()) slope[i] = k * x[i];
                u += k * x[i] * x[i] / 2;
            }
            return u;
        });
    potential->set_temperature(water.kT);
    return potential;
}

// Calls see(step, positions) at the start and after each step.
template <class Sampler, class See>
void follow(const Water& water, Sampler sampler, const std::vector<double>& start, std::uint64_t seed,
            std::uint32_t run, std::int64_t steps, const See& see) {
    const std::int64_t coordinates = std::ssize(start);
    if constexpr (requires { sampler.inverse_metric; })
        if (!sampler.inverse_metric.empty()) {
            sampler.metric = MetricKind::diagonal;
            sampler.inverse_metric.resize(start.size(), sampler.inverse_metric[0]);
        }
    const auto chain = sampler.begin(potential_of(water, coordinates),
                                     ChainStart<double>{.position = start, .seed = seed, .chain = run});
    see(0, chain->position());
    for (std::int64_t step = 1; step <= steps; ++step) {
        chain->step();
        see(step, chain->position());
    }
}

// f of 50 equal parts of the coordinates: they are independent, so their spread is the standard error.
Estimate over_parts(std::int64_t coordinates, const std::function<double(std::size_t first, std::size_t last)>& f) {
    std::vector<double> parts;
    const auto size = static_cast<std::size_t>(coordinates / 50);
    for (std::size_t k = 0; k < 50; ++k) parts.push_back(f(k * size, (k + 1) * size));
    return Estimate(parts);
}

double mean_square(std::span<const double> x, std::size_t first, std::size_t last) {
    double sum = 0;
    for (std::size_t i = first; i < last; ++i) sum += x[i] * x[i];
    return sum / static_cast<double>(last - first);
}

constexpr double h_rate = 0.02;  // the length of a step in units of mass / gamma: wrong by h_rate^2 / 12 = 0.003 %

void draw_paths(Panel& panel, std::uint64_t seed) {
    const Water water;
    std::vector<std::vector<double>> x(6);
    follow(water, water.sampler(h_rate), std::vector<double>(6, 0.0), seed, 0, 10000,
           [&](std::int64_t step, std::span<const double> at) {
               if (step % 10 == 0)
                   for (std::size_t i = 0; i < 6; ++i) x[i].push_back(at[i]);
           });
    for (std::size_t k = 0; k < 3; ++k) panel.line("grain " + std::to_string(k + 1), x[2 * k], x[2 * k + 1]);
    panel.crosses("start", {0}, {0});
    panel.no_key();
    panel.set("set size ratio -1");
    panel.set("set xtics 20; set ytics 20");
}

// 1. The mean square of the displacement over time.
void displacement(const Example& example, std::int64_t coordinates, Panel& panel) {
    const Water water;
    constexpr double h = h_rate / 2;  // and no time below five steps: the first ones are wrong by h / 6
    const std::vector<std::int64_t> when{5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000};
    const Found run = stage(example, "displacement", [&] {
        std::vector<double> mean, error, exponent, exponent_error;
        std::vector<std::vector<double>> kept;  // x at each of these steps, and at twice as many
        std::vector<std::int64_t> steps;
        for (const std::int64_t t : when)
            for (const std::int64_t s : {t, 2 * t}) steps.push_back(s);
        kept.resize(steps.size());
        follow(water, water.sampler(h), std::vector<double>(static_cast<std::size_t>(coordinates), 0.0), example.seed,
               1, 2 * when.back(), [&](std::int64_t step, std::span<const double> x) {
                   for (std::size_t k = 0; k < steps.size(); ++k)
                       if (steps[k] == step) kept[k].assign(x.begin(), x.end());
               });
        for (std::size_t k = 0; k < when.size(); ++k) {
            const std::vector<double>&now = kept[2 * k], &later = kept[2 * k + 1];
            const Estimate square = over_parts(coordinates, [&](auto a, auto b) { return mean_square(now, a, b); });
            const Estimate power = over_parts(coordinates, [&](auto a, auto b) {
                return math::log2(mean_square(later, a, b) / mean_square(now, a, b));
            });
            mean.push_back(square.mean);
            error.push_back(square.error);
            exponent.push_back(power.mean);
            exponent_error.push_back(power.error);
        }
        const Shape shape{std::ssize(when)};
        return Found{{"mean", {shape, mean}},
                     {"error", {shape, error}},
                     {"exponent", {shape, exponent}},
                     {"exponent error", {shape, exponent_error}}};
    });
    ResultTable table({"time", "mean of x^2", "exact", "exponent, t to 2t", "exact exponent"});
    std::vector<double> t, mean, low, high;
    for (std::int64_t k = 0; k < std::ssize(when); ++k) {
        t.push_back(h * static_cast<double>(when[static_cast<std::size_t>(k)]));
        mean.push_back(run.at("mean")(k));
        low.push_back(mean.back() - run.at("error")(k));
        high.push_back(mean.back() + run.at("error")(k));
        const int digits = t.back() < 0.3 ? 6 : t.back() < 3 ? 4 : 2;
        char text[20];
        std::snprintf(text, sizeof text, "%g", t.back());
        table.row({text,
                   {mean.back(), run.at("error")(k), digits},
                   {water.square(t.back()), digits},
                   {run.at("exponent")(k), run.at("exponent error")(k), 3},
                   {math::log2(water.square(2 * t.back()) / water.square(t.back())), 3}});
    }
    table.show();
    table.save(example.path("brownian_displacement"));
    std::vector<double> at, exact, ballistic, diffusive;
    for (double s = 0.01; s < 250; s *= 1.2) {
        at.push_back(s);
        exact.push_back(water.square(s));
        ballistic.push_back(s < 4 ? water.kT / water.mass * s * s : NAN);
        diffusive.push_back(s > 0.25 ? 2 * water.D() * s : NAN);
    }
    panel.line("exact", at, exact);
    panel.dashed("kT/m t^2", at, ballistic);
    panel.dashed("2 D t", at, diffusive);
    panel.intervals("measured", t, mean, low, high);
    panel.set("set logscale xy");
    panel.set("set format y '%g'");
    panel.set("set xrange [0.01:200]");
    panel.set("set yrange [0.0001:1000]");
}

// 2. Einstein's relation D = kT / gamma, whatever the mass.
void einstein(const Example& example, std::int64_t coordinates, Panel& panel) {
    std::uint32_t row = 2;  // random numbers of their own for each
    ResultTable table({"kT, gamma, m", "D measured", "kT / gamma", "ratio"});
    std::vector<double> known, found, low, high;
    for (const Water& water : {Water{.kT = 0.25}, Water{}, Water{.kT = 4}, Water{.gamma = 0.25}, Water{.gamma = 4},
                               Water{.mass = 0.25}, Water{.mass = 4}}) {
        char name[60];
        std::snprintf(name, sizeof name, "%g, %g, %g", water.kT, water.gamma, water.mass);
        const Found run = stage(example, "Einstein " + std::string(name), [&] {
            constexpr std::int64_t steps = 2500;
            const double h = h_rate / water.rate(), t = h * static_cast<double>(steps);
            Tensor<double> result({2}, {0, 0});
            follow(water, water.sampler(h), std::vector<double>(static_cast<std::size_t>(coordinates), 0.0),
                   example.seed, row, steps, [&](std::int64_t step, std::span<const double> x) {
                       if (step < steps) return;
                       // <x^2> = 2 D (t - m / gamma), but for exp(-50).
                       const Estimate D = over_parts(coordinates, [&](auto a, auto b) {
                           return mean_square(x, a, b) / (2 * (t - 1 / water.rate()));
                       });
                       result = Tensor<double>({2}, {D.mean, D.error});
                   });
            return Found{{"D", result}};
        });
        const Estimate D(run.at("D")(0), run.at("D")(1));
        table.row({name, D.cell(4), {water.D(), 4}, (D / water.D()).cell(3)});
        known.push_back(water.D());
        found.push_back(D.mean);
        low.push_back(D.mean - D.error);
        high.push_back(D.mean + D.error);
        ++row;
    }
    table.show();
    table.save(example.path("brownian_einstein"));
    panel.line("exact", {0.1, 10}, {0.1, 10});
    panel.intervals("measured", known, found, low, high);
    panel.set("set logscale xy");
    panel.set("set xrange [0.1:10]");
    panel.set("set yrange [0.1:10]");
}

// The correlation of x(0) and x(t) of a grain with m = kT = stiffness = 1 in its trap.
double trapped(double gamma, double t) {
    const double w2 = gamma * gamma / 4 - 1, half = gamma * t / 2, w = std::sqrt(std::abs(w2));
    if (w < 1e-9) return math::exp(-half) * (1 + half);
    const double even = w2 > 0 ? math::cosh(w * t) : math::cos(w * t);
    const double odd = w2 > 0 ? math::sinh(w * t) : math::sin(w * t);
    return math::exp(-half) * (even + gamma / (2 * w) * odd);
}

// 3. In a trap, time in units of gamma / stiffness: with more friction the memory of x goes over to exp(-t).
void overdamped(const Example& example, std::int64_t coordinates, Panel& panel) {
    ResultTable table({"dynamics", "correlation at t = 1/4", "its law", "overdamped"});
    std::vector<double> at;
    for (int k = 0; k <= 80; ++k) at.push_back(0.05 * k);
    std::uint32_t row = 100;
    const auto show = [&](const std::string& name, const Water& water, const auto& sampler, std::int64_t steps,
                          double law) {
        const Found run = stage(example, name, [&] {
            std::vector<double> start(static_cast<std::size_t>(coordinates));
            Random(example.seed, 1).fill_normal(start);
            Tensor<double> result({2}, {0, 0});
            follow(water, sampler, start, example.seed, row++, steps,
                   [&](std::int64_t step, std::span<const double> x) {
                       if (step < steps) return;
                       const Estimate c = over_parts(coordinates, [&](auto a, auto b) {
                           double product = 0, square = 0;
                           for (std::size_t i = a; i < b; ++i) {
                               product += start[i] * x[i];
                               square += start[i] * start[i];
                           }
                           return product / square;
                       });
                       result = Tensor<double>({2}, {c.mean, c.error});
                   });
            return Found{{"c", result}};
        });
        table.row({name, {run.at("c")(0), run.at("c")(1), 4}, {law, 4}, {math::exp(-0.25), 4}});
        return std::pair(run.at("c")(0), run.at("c")(1));
    };
    std::vector<double> quarter, measured, low, high;
    for (const double gamma : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0}) {
        const Water water{.gamma = gamma, .stiffness = 1};
        const double h = std::min(0.025, 0.1 / gamma);
        char name[40];
        std::snprintf(name, sizeof name, "friction %g", gamma);
        const auto [c, error] =
            show(name, water, water.sampler(h), std::lround(gamma / 4 / h), trapped(gamma, gamma / 4));
        if (gamma == 1 || gamma == 4 || gamma == 16) continue;
        std::vector<double> curve;
        for (const double t : at) curve.push_back(trapped(gamma, gamma * t));
        panel.line(name, at, curve);
        quarter.push_back(0.25);
        measured.push_back(c);
        low.push_back(c - error);
        high.push_back(c + error);
    }
    // The step of SGLD is one of the overdamped grain: e = 2 dt / gamma. So is that with an infinite friction, h^2 = e;
    // its first momentum is drawn and had no kick yet, so that its first step has only half of the drift.
    constexpr double e = 0.02;
    const Water water{.stiffness = 1};
    show("infinite friction", water,
         KineticLangevin{.step_size = std::sqrt(e), .friction = std::numeric_limits<double>::infinity()}, 25,
         (1 - e / 4) * math::pow(1 - e / 2, 24));
    show("SGLD, step 0.02", water, Sgld{.step_size = e}, 25, math::pow(1 - e / 2, 25));
    table.show();
    table.save(example.path("brownian_overdamped"));
    std::vector<double> limit;
    for (const double t : at) limit.push_back(math::exp(-t));
    panel.colour_of("exact");
    panel.dashed("exp(-t)", at, limit);
    panel.intervals("measured", quarter, measured, low, high);
    panel.set("set xrange [0:4]");
    panel.set("set yrange [-0.1:1.05]");
}

}  // namespace

void grain_in_water(const Example& example, std::int64_t grains) {
    Figure figure(example.path("brownian"), 2);
    draw_paths(figure.panel("Three grains, for a time of 200 m / gamma", "x, in sqrt(m kT) / gamma", "y, in the same"),
               example.seed);
    std::printf("1. The mean square of the displacement; m = gamma = kT = 1, %lld grains in a plane\n",
                static_cast<long long>(grains));
    displacement(
        example, 2 * grains,
        figure.panel("Mean square of the displacement", "time, in m / gamma", "mean of x^2, in m kT / gamma^2"));
    std::printf("Ballistic at first, exponent 2, then diffusive, exponent 1.\n\n2. Einstein's relation\n");
    einstein(example, 2 * grains, figure.panel("Diffusion of three masses", "kT / gamma", "D"));
    std::printf("The mass does not matter.\n\n3. A trap, and more and more friction\n");
    overdamped(example, 2 * grains,
               figure.panel("Memory of the place in a trap", "time, in gamma / stiffness", "correlation with x(0)"));
    std::printf("With more friction, the grain becomes the overdamped one, whose step is that of SGLD.\n\n");
    figure.save();
}
