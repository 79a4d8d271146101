// A tour of Hamiltonian Monte Carlo, on a normal distribution of two numbers with the correlation 0.99.
//
//     ./run example hmc_tour
//
// Give the position q a momentum p and the energy H = U(q) / T + p.p / 2, and let both follow Hamilton's equations,
// q' = p and p' = -grad U / T: H stays what it is, and the position travels far. Five stops:
//
//     1  the leapfrog rule keeps H up to a bounded error of second order; Euler's rule does not
//     2  a random walk and HMC with the same number of evaluations of U
//     3  one leapfrog step at a time, a share alpha of the momentum kept: from Langevin's random walk to a glide
//     4  the temperature T of exp(-U / T), and two ways to measure it
//     5  leapfrog steps keep volume in phase space and run backward (hmc_tour/volume.cpp)
//
// Expected output: a table for each, and the figures hmc_tour and hmc_tour_volume. Half the step has a quarter of the
// error; HMC is worth nine times the random walk (the narrower the ellipse, the more: with the correlation 0.95 and the
// same 20 steps it was twice); alpha = 0.98 is worth more than twenty times alpha = 0; both temperatures are T. 40
// leapfrog steps change the area of a disc by less than 10^-4 and go back up to rounding.
//
// (Neal, MCMC using Hamiltonian dynamics, 2011. The joint density is exp(-U - p.p / 2): some introductions have the
// kinetic energy with a plus sign, which no normal momentum has.)
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/stage.hpp"
#include "common/table.hpp"
#include "hmc_tour/volume.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/samplers/diagnostics/temperature.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/kinetic_langevin.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>
#include <utility>

using namespace pollen;

constexpr double correlation = 0.99;

std::vector<double> numbers(const Tensor<double>& x) { return {x.begin(), x.end()}; }

std::string text_of(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%g", x);
    return text;
}

// An ellipse along x = y, with standard deviations 1.41 along it and 0.1 across.
void ellipse(Model<double>& m) {
    const auto x = m.real("x"), y = m.real("y");
    m.prior(normal_lpdf(x, 0, 1));
    m.prior(normal_lpdf(y, correlation * x, std::sqrt(1 - correlation * correlation)));
}

// ---- 1. Energy along a trajectory. ----

struct Point {
    std::array<double, 2> q, p, slope = {};
    double u = 0;

    double hamiltonian() const { return u + (p[0] * p[0] + p[1] * p[1]) / 2; }
    void drift(double step) {
        for (int i : {0, 1}) q[i] += step * p[i];
    }
    void kick(double step) {
        for (int i : {0, 1}) p[i] -= step * slope[i];
    }
    void evaluate(Potential<double>& potential) { u = potential.evaluate(q, slope).total(); }
};

void leapfrog(Potential<double>& potential, double step, Point& z) {
    z.kick(step / 2);
    z.drift(step);
    z.evaluate(potential);
    z.kick(step / 2);
}

void euler(Potential<double>& potential, double step, Point& z) {
    z.drift(step);
    z.kick(step);
    z.evaluate(potential);
}

void energy(const Example& example, Panel& panel) {
    constexpr double time = 20;
    ModelPotential<double> potential(ellipse);
    std::printf("1. Energy along a trajectory of time %g\n", time);
    ResultTable table({"rule", "steps", "worst error", "half the step: error divided by"});
    const auto follow = [&](const std::string& name, auto rule, double step, double before) {
        Point z{.q = {1, 0.6}, .p = {-0.5, 1}};
        z.evaluate(potential);
        const double start = z.hamiltonian();
        double worst = 0;
        std::vector<double> at{0}, error{0};
        for (int k = 1; k <= std::lround(time / step); ++k) {
            rule(potential, step, z);
            at.push_back(k * step);
            error.push_back(z.hamiltonian() - start);
            worst = std::max(worst, std::abs(error.back()));
        }
        table.row({name,
                   {static_cast<double>(at.size() - 1), 0},
                   {worst, worst < 1000 ? 4 : 0},
                   before > 0 ? Cell(before / worst, 2) : Cell("")});
        panel.line(name, at, error);
        return worst;
    };
    double worst = follow("leapfrog, step 0.1", leapfrog, 0.1, 0);
    worst = follow("leapfrog, step 0.05", leapfrog, 0.05, worst);
    worst = follow("leapfrog, step 0.025", leapfrog, 0.025, worst);
    follow("leapfrog, step 0.0125", leapfrog, 0.0125, worst);
    follow("Euler, step 0.0125", euler, 0.0125, 0);
    table.show();
    table.save(example.path("hmc_tour_energy"));
    std::printf(
        "Half the step, a quarter of the error: the leapfrog rule is of second order, and its error does not grow\n"
        "with time. Euler's rule takes as many evaluations and leaves for ever.\n\n");
    panel.set("set xrange [0:3]");
    panel.set("set yrange [-1.2:1.2]");
}

// What a row of a table says about chains: their acceptance, and the effective draws of x, in the middle or in the
// tails, for 1000 evaluations of U.
Tensor<double> worth(const Draws& draws, std::int64_t evaluations_a_draw) {
    const Tensor<double> x = draws["x"], acceptance = draws.statistic(&ChainRecord::acceptance);
    const double n = static_cast<double>(x.size());
    return {std::accumulate(acceptance.begin(), acceptance.end(), 0.0) / n,
            1000 * std::min(ess_bulk(x), ess_tail(x)) / (n * static_cast<double>(evaluations_a_draw))};
}

// ---- 2. A random walk and HMC. ----

// x in the first chain, against the evaluations of U that it took, and what the chains are worth.
Found trace(const Draws& run, std::int64_t evaluations_a_draw) {
    const Tensor<double> x = run["x"];
    std::vector<double> evaluations, first;
    for (std::int64_t k = 0; k < run.size() && k * evaluations_a_draw < 3000; ++k) {
        evaluations.push_back(static_cast<double>(k * evaluations_a_draw));
        first.push_back(x(0, k));
    }
    return {{"evaluations", Tensor<double>({std::ssize(first)}, evaluations)},
            {"x", Tensor<double>({std::ssize(first)}, first)},
            {"worth", worth(run, evaluations_a_draw)}};
}

void random_walk(const Example& example, std::int64_t draws, Panel& panel) {
    constexpr std::int64_t length = 20;  // leapfrog steps of a trajectory
    const ModelPotential<double> potential(ellipse);
    RunOptions options{.draws = draws, .seed = example.seed, .show = Show::nothing};
    // Without a metric: one that knows the covariance would make a circle of the ellipse, for both.
    const std::int64_t evaluations = draws * length;
    std::printf("2. The same number of evaluations, %lld a chain\n", static_cast<long long>(evaluations));
    const Found hmc = stage(example, "HMC", [&] {
        const Hmc sampler{.steps = length, .metric = MetricKind::unit};
        return trace(unless_stopped(run_chains(potential, sampler, options)), length);
    });
    options.draws = evaluations;
    const Found walk = stage(example, "random walk", [&] {
        return trace(unless_stopped(run_chains(potential, Metropolis{.metric = MetricKind::unit}, options)), 1);
    });
    ResultTable table({"sampler", "acceptance", "effective draws of x per 1000 evaluations"});
    table.row({"random-walk Metropolis", {walk.at("worth")(0), 2}, {walk.at("worth")(1), 1}});
    table.row({"HMC, 20 leapfrog steps", {hmc.at("worth")(0), 2}, {hmc.at("worth")(1), 1}});
    table.show();
    table.save(example.path("hmc_tour_walk"));
    std::printf(
        "A step of the random walk is about as long as the ellipse is wide, and it turns at every one; a trajectory\n"
        "goes straight on, to the other end of the ellipse.\n\n");
    panel.line("random walk", numbers(walk.at("evaluations")), numbers(walk.at("x")));
    panel.crosses("HMC, end of each trajectory", numbers(hmc.at("evaluations")), numbers(hmc.at("x")));
    panel.set("set yrange [-4:4]");
}

// ---- 3. Momentum that is kept in part. ----

// The mean over four chains of the autocorrelation of x.
Tensor<double> autocorrelation_of_x(const Draws& run, std::size_t lags) {
    std::vector<double> mean(std::min(lags, static_cast<std::size_t>(run.size())));
    const Tensor<double> x = run["x"];
    for (std::int64_t chain = 0; chain < 4; ++chain) {
        const std::vector<double> rho = autocorrelation(Chains(x).chain(chain));
        for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += rho[k] / 4;
    }
    return Tensor<double>({std::ssize(mean)}, mean);
}

void partial_momentum(const Example& example, std::int64_t draws, Panel& panel) {
    const ModelPotential<double> potential(ellipse);
    const RunOptions options{.draws = draws, .seed = example.seed, .show = Show::nothing};
    Hmc sampler{.step_size = 0.08, .steps = 1, .metric = MetricKind::unit, .warmup = {.step_size = false}};
    std::printf("3. One leapfrog step of size %g, then p = alpha p + sqrt(1 - alpha^2) N(0, 1)\n", sampler.step_size);
    ResultTable table({"alpha", "acceptance", "effective draws of x per 1000 gradients"});
    for (const double alpha : {0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995}) {
        sampler.alpha = alpha;
        const std::string name = "alpha " + text_of(alpha);
        const Found found = stage(example, name, [&] {
            const Draws run = unless_stopped(run_chains(potential, sampler, options));
            return Found{{"worth", worth(run, 1)}, {"autocorrelation", autocorrelation_of_x(run, 400)}};
        });
        table.row({{alpha, 3}, {found.at("worth")(0), 3}, {found.at("worth")(1), 1}});
        if (alpha != 0 && alpha != 0.8 && alpha != 0.95 && alpha != 0.99) continue;
        const std::vector<double> rho = numbers(found.at("autocorrelation"));
        std::vector<double> lag(rho.size());
        std::iota(lag.begin(), lag.end(), 0.0);
        panel.line(alpha == 0 ? "alpha 0: Langevin" : name, lag, rho);
    }
    table.show();
    table.save(example.path("hmc_tour_momentum"));
    std::printf(
        "alpha = 0 is Langevin Monte Carlo: a random walk again, as each step forgets where it was going. With much "
        "of\n"
        "the momentum kept it goes straight on; with too much, no new momentum comes in, nor a new energy.\n\n");
    panel.set("set yrange [-0.2:1]");
}

// ---- 4. Temperature. ----

// U = 2 (x^2 - 1)^2, with minima at -1 and 1 and a barrier of 2 between them.
void double_well(Model<double>& m) {
    const auto x = m.real("x");
    m.prior(-2.0 * square(square(x) - 1.0));
}

// exp(-U / T) over its integral, on a grid.
std::vector<double> exact_density(Potential<double>& potential, double t, const std::vector<double>& grid) {
    std::vector<double> density;
    for (const double& x : grid) density.push_back(math::exp(-potential.evaluate({&x, 1}, {}).total() / t));
    const double integral = std::accumulate(density.begin(), density.end(), 0.0) * (grid[1] - grid[0]);
    for (double& d : density) d /= integral;
    return density;
}

void temperature(const Example& example, std::int64_t draws, Panel& panel) {
    ModelPotential<double> potential(double_well);
    const RunOptions options{.draws = draws, .thin = 50, .seed = example.seed, .show = Show::nothing};
    const KineticLangevin sampler{.step_size = 0.02, .friction = 1};
    const Tensor<double> ticks = Tensor<double>::linspace(-2.5, 2.5, 501);
    const std::vector<double> grid(ticks.begin(), ticks.end());
    std::printf("4. Two wells, by kinetic Langevin dynamics with steps of %g\n", sampler.step_size);
    ResultTable table({"T", "measured on the momenta, p^2", "on the positions, x dU/dx"});
    double farthest = 0;  // in standard errors
    for (const double t : {0.5, 1.0, 2.0}) {
        potential.set_temperature(t);
        const std::string name = "T = " + text_of(t);
        const Found run = stage(example, name, [&] {
            const Draws found = unless_stopped(run_chains(potential, sampler, options));
            return Found{{"x", found["x"]},
                         {"U", found.statistic(&ChainRecord::energy)},
                         {"H", found.statistic(&ChainRecord::hamiltonian)}};
        });
        const Tensor<double>&x = run.at("x"), &energy = run.at("U");
        Tensor<double> kinetic = run.at("H"), configurational = x;
        for (std::int64_t i = 0; i < x.size(); ++i) {
            // A chain tells H / T and U / T; what lies between them is p^2 / (2 T).
            double& p2 = kinetic.mutable_data()[i];
            p2 = (p2 - energy.data()[i]) * 2 * t;
            double slope = 0;
            potential.evaluate({x.data() + i, 1}, {&slope, 1});
            configurational.mutable_data()[i] *= slope;
        }
        const QuantitySummary a = summarise(Chains(kinetic)), b = summarise(Chains(configurational));
        table.row({{t, 1}, {a.mean, a.mcse, 3}, {b.mean, b.mcse, 3}});
        for (const QuantitySummary& s : {a, b}) farthest = std::max(farthest, std::abs(s.mean - t) / s.mcse);
        const BinnedDraws found({x.begin(), x.end()}, -2.5, 2.5, 50);
        panel.points(name, found.middle, found.density);
        panel.line("", grid, exact_density(potential, t, grid));
    }
    table.show();
    table.save(example.path("hmc_tour_temperature"));
    std::printf("Both have the mean T, within %.1f standard errors here.\n\n", farthest);
    panel.set("set xrange [-2.5:2.5]");
    panel.set("set yrange [0:1.2]");
}

int main(int argc, char** argv) {
    Example example("A tour of Hamiltonian Monte Carlo: energy, trajectories, momentum, temperature.", "10 seconds");
    std::int64_t draws = 10000;
    bool slip = false;
    example.option("--draws", draws, 1000, "of each of four chains of HMC; other samplers have the same gradients",
                   100);
    example.flag("--slip", slip, "a broken twin for the tests: a leapfrog step with one whole kick");
    return example.run(argc, argv, [&] {
        Figure figure(example.path("hmc_tour"), 2);
        energy(example, figure.panel("1. Energy H along one trajectory", "time", "H - H at the start"));
        random_walk(example, draws, figure.panel("2. x in one chain", "evaluations of U", "x"));
        partial_momentum(example, 10 * draws,
                         figure.panel("3. One leapfrog step a draw", "gradients", "autocorrelation of x"));
        temperature(example, draws, figure.panel("4. Two wells; lines: exp(-U / T)", "x", "density"));
        figure.save();
        volume(example, slip);
    });
}
