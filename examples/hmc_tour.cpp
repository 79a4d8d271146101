// A tour of Hamiltonian Monte Carlo, on a normal distribution of two numbers with the correlation 0.99.
//
//     ./run example hmc_tour
//
// Give the position q a momentum p and the energy H = U(q) / T + p.p / 2, and let both follow Hamilton's equations,
// q' = p and p' = -grad U / T: H stays what it is, and the position travels far. Four stops:
//
//     1  the leapfrog rule keeps H up to a bounded error of second order; Euler's rule does not
//     2  a random walk and HMC with the same number of evaluations of U
//     3  one leapfrog step at a time, a share alpha of the momentum kept: from Langevin's random walk to a glide
//     4  the temperature T of exp(-U / T), and two ways to measure it
//
// Expected output: a table and a figure for each, hmc_tour_energy, hmc_tour_walk, hmc_tour_momentum and
// hmc_tour_temperature. Half the step has a quarter of the error; HMC is worth nine times the random walk
// (the narrower the ellipse, the more: with the correlation 0.95 and the same 20 steps it was twice); alpha = 0.98
// is worth more than twenty times alpha = 0; both temperatures are T.
#include "example.hpp"
#include "figure.hpp"

#include <pollen/nn/distributions.hpp>
#include <pollen/nn/model.hpp>
#include <pollen/samplers/hmc.hpp>
#include <pollen/samplers/kinetic_langevin.hpp>
#include <pollen/samplers/metropolis.hpp>
#include <pollen/samplers/run.hpp>
#include <pollen/samplers/temperature.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>
#include <utility>

using namespace pollen;

constexpr double correlation = 0.99;
constexpr std::uint64_t seed = 1;

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

void energy(double time) {
    ModelPotential<double> potential(ellipse);
    Figure figure("hmc_tour_energy", "Error of the energy H along one trajectory", "time", "H - H at the start");
    std::printf("1. Energy along a trajectory of time %g\n\n", time);
    std::printf("%-10s %6s %8s %12s %8s\n", "rule", "step", "steps", "worst error", "ratio");
    const auto follow = [&](const char* name, auto rule, double step, double before) {
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
        std::printf("%-10s %6g %8zu %12.3g", name, step, at.size() - 1, worst);
        std::printf(before > 0 ? " %8.2f\n" : "\n", before / worst);
        char label[40];
        std::snprintf(label, sizeof label, "%s, step %g", name, step);
        figure.line(label, at, error);
        return worst;
    };
    double worst = 0;
    for (const double step : {0.1, 0.05, 0.025, 0.0125}) worst = follow("leapfrog", leapfrog, step, worst);
    follow("Euler", euler, 0.0125, 0);
    std::printf(
        "\nHalf the step, a quarter of the error: the leapfrog rule is of second order, and its error does not\n"
        "grow with time. Euler's rule takes as many evaluations and leaves for ever.\n");
    figure.set("set xrange [0:3]");
    figure.set("set yrange [-1.2:2.4]");
    figure.set("set key top right");
    figure.save();
}

// What a row of a table says about chains.
struct Worth {
    double acceptance = 0;
    double effective = 0;  // draws of x, in the middle or in the tails, for 1000 evaluations of U
};

Worth worth(const Draws& draws, std::int64_t evaluations_a_draw) {
    const Tensor<double> x = draws["x"], acceptance = draws.statistic(&ChainRecord::acceptance);
    const double n = static_cast<double>(x.size());
    return {std::accumulate(acceptance.begin(), acceptance.end(), 0.0) / n,
            1000 * std::min(ess_bulk(x), ess_tail(x)) / (n * static_cast<double>(evaluations_a_draw))};
}

// ---- 2. A random walk and HMC. ----

void random_walk(std::int64_t draws) {
    constexpr std::int64_t length = 20;  // leapfrog steps of a trajectory
    const ModelPotential<double> potential(ellipse);
    RunOptions options{.draws = draws, .seed = seed, .show = Show::nothing};
    // Without a metric: one that knows the covariance would make a circle of the ellipse, for both.
    const Draws hmc = run_chains(potential, Hmc{.steps = length, .metric = MetricKind::unit}, options);
    options.draws = draws * length;
    const Draws walk = run_chains(potential, Metropolis{.metric = MetricKind::unit}, options);

    std::printf("\n2. The same number of evaluations, %lld a chain\n\n", static_cast<long long>(options.draws));
    std::printf("%-24s %10s %44s\n", "", "acceptance", "effective draws of x per 1000 evaluations");
    const auto row = [](const char* name, const Worth& w) {
        std::printf("%-24s %10.2f %44.1f\n", name, w.acceptance, w.effective);
    };
    row("random-walk Metropolis", worth(walk, 1));
    row("HMC, 20 leapfrog steps", worth(hmc, length));
    std::printf(
        "\nA step of the random walk is about as long as the ellipse is wide, and it turns at every one; a trajectory "
        "goes\n"
        "straight on, to the other end of the ellipse.\n");

    Figure figure("hmc_tour_walk", "x in one chain: a random walk, and trajectories of HMC", "evaluations of U", "x");
    const auto trace = [](const Draws& run, std::int64_t evaluations_a_draw) {
        const Tensor<double> x = run["x"];
        std::pair<std::vector<double>, std::vector<double>> points;
        for (std::int64_t k = 0; k < run.size() && k * evaluations_a_draw < 3000; ++k) {
            points.first.push_back(static_cast<double>(k * evaluations_a_draw));
            points.second.push_back(x(0, k));
        }
        return points;
    };
    const auto [walk_at, walk_x] = trace(walk, 1);
    const auto [hmc_at, hmc_x] = trace(hmc, length);
    figure.line("random walk", walk_at, walk_x);
    figure.crosses("HMC, the end of each trajectory", hmc_at, hmc_x);
    figure.set("set yrange [-4:5]");
    figure.save();
}

// ---- 3. Momentum that is kept in part. ----

void partial_momentum(std::int64_t draws) {
    const ModelPotential<double> potential(ellipse);
    const RunOptions options{.draws = draws, .seed = seed, .show = Show::nothing};
    Hmc sampler{.step_size = 0.08, .steps = 1, .metric = MetricKind::unit, .warmup = {.step_size = false}};
    Figure figure("hmc_tour_momentum", "One leapfrog step at a time, a share alpha of the momentum kept", "gradients",
                  "autocorrelation of x");
    std::printf("\n3. One leapfrog step of size %g, then p = alpha p + sqrt(1 - alpha^2) N(0, 1)\n\n",
                sampler.step_size);
    std::printf("%6s %12s %44s\n", "alpha", "acceptance", "effective draws of x per 1000 gradients");
    for (const double alpha : {0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995}) {
        sampler.alpha = alpha;
        const Draws run = run_chains(potential, sampler, options);
        const Worth w = worth(run, 1);
        std::printf("%6g %12.3f %44.1f\n", alpha, w.acceptance, w.effective);
        if (alpha != 0 && alpha != 0.8 && alpha != 0.95 && alpha != 0.99) continue;
        std::vector<double> lag, mean(std::min<std::size_t>(400, static_cast<std::size_t>(draws)));
        for (std::int64_t chain = 0; chain < 4; ++chain) {
            const std::vector<double> rho = autocorrelation(Chains(run["x"]).chain(chain));
            for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += rho[k] / 4;
        }
        for (std::size_t k = 0; k < mean.size(); ++k) lag.push_back(static_cast<double>(k));
        char label[40];
        std::snprintf(label, sizeof label, alpha == 0 ? "alpha %g: Langevin" : "alpha %g", alpha);
        figure.line(label, lag, mean);
    }
    std::printf(
        "\nalpha = 0 is Langevin Monte Carlo: a random walk again, as each step forgets where it was going. With much "
        "of\n"
        "the momentum kept it goes straight on; with too much, no new momentum comes in, nor a new energy.\n");
    figure.set("set yrange [-0.2:1.1]");
    figure.set("set key top right");
    figure.save();
}

// ---- 4. Temperature. ----

// U = 2 (x^2 - 1)^2, with minima at -1 and 1 and a barrier of 2 between them.
void double_well(Model<double>& m) {
    const auto x = m.real("x");
    m.prior(-2.0 * square(square(x) - 1.0));
}

void temperature(std::int64_t draws) {
    ModelPotential<double> potential(double_well);
    const RunOptions options{.draws = draws, .thin = 50, .seed = seed, .show = Show::nothing};
    const KineticLangevin sampler{.step_size = 0.02, .friction = 1};
    Figure figure("hmc_tour_temperature", "Two wells at three temperatures: draws, and exp(-U / T) as lines", "x",
                  "density");
    std::printf("\n4. Two wells, by kinetic Langevin dynamics with steps of %g\n\n", sampler.step_size);
    std::printf("%6s %31s %31s\n", "T", "measured on the momenta, p^2", "on the positions, x dU/dx");
    for (const double t : {0.5, 1.0, 2.0}) {
        potential.set_temperature(t);
        const Draws run = run_chains(potential, sampler, options);
        const Tensor<double> x = run["x"], energy = run.statistic(&ChainRecord::energy);
        Tensor<double> kinetic = run.statistic(&ChainRecord::hamiltonian), configurational = x;
        for (std::int64_t i = 0; i < x.size(); ++i) {
            // A chain tells H / T and U / T; what lies between them is p^2 / (2 T).
            double& p2 = kinetic.mutable_data()[i];
            p2 = (p2 - energy.data()[i]) * 2 * t;
            double slope = 0;
            potential.evaluate({x.data() + i, 1}, {&slope, 1});
            configurational.mutable_data()[i] *= slope;
        }
        const QuantitySummary a = summarise(Chains(kinetic)), b = summarise(Chains(configurational));
        std::printf("%6g %20.3f +- %.3f %20.3f +- %.3f\n", t, a.mean, a.mcse, b.mean, b.mcse);

        const double low = -2.5, width = 0.1;
        std::vector<double> middle, share(50, 0), grid, exact;
        for (int k = 0; k < 50; ++k) middle.push_back(low + (k + 0.5) * width);
        for (const double at : x) {
            const int k = static_cast<int>(std::floor((at - low) / width));
            if (k >= 0 && k < 50) share[k] += 1 / (width * static_cast<double>(x.size()));
        }
        for (int k = 0; k <= 500; ++k) {
            grid.push_back(low + k * width / 10);
            exact.push_back(std::exp(-potential.evaluate({&grid.back(), 1}, {}).total() / t));
        }
        const double integral = std::accumulate(exact.begin(), exact.end(), 0.0) * width / 10;
        for (double& density : exact) density /= integral;
        char label[40];
        std::snprintf(label, sizeof label, "T = %g", t);
        figure.points(label, middle, share);
        figure.line("", grid, exact);
    }
    std::printf("\nBoth have the mean T; behind +- are standard errors.\n");
    figure.set("set xrange [-2.5:2.5]");
    figure.set("set yrange [0:1.2]");
    figure.save();
}

int run(const Arguments& arguments) {
    const std::int64_t draws = arguments.quick ? 100 : 10000;
    energy(20);
    random_walk(draws);
    partial_momentum(10 * draws);
    temperature(draws);
    return 0;
}

int main(int argc, char** argv) { return run_example(argc, argv, run); }
