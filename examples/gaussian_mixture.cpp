// Two modes: which samplers find both, and in the right proportion?
//
//     ./run example gaussian_mixture
//
// 100 numbers come from a mixture of two normals with tied means (variances, not standard deviations, in brackets):
//
//     theta1 ~ N(0, 10),  theta2 ~ N(0, 1),  x_i ~ 1/2 N(theta1, 2) + 1/2 N(theta1 + theta2, 2)
//
// Whether the second normal lies to the right of the first or to its left, the data can hardly tell: the posterior has
// two modes. With two parameters it is known exactly, from a grid, so that every sampler can be held against it. The
// experiment is that of Welling & Teh (Bayesian learning via stochastic gradient Langevin dynamics, 2011); the data are
// those of a later repetition, made again here number for number, with its results in the column `published`.
//
// Expected output: exact means (0.490, 0.059), standard deviations (0.770, 1.510), P(theta2 > 0) = 0.518, modes
// (-0.2512, 1.5462) and (1.2863, -1.5367). NUTS, HMC, tempering and Metropolis agree with that within their errors, and
// so do eight chains of SGLD together; but one chain of SGLD changes its mode only a few times in 10^6 steps. The
// published figures are of one chain each, so that its mean says in which mode it happened to stay, and its SGD had not
// converged: it ends where U is 0.003 above the minimum. With the published settings, 300 steps of 0.01 on U with all
// data, the mode is reached within 0.0001; the published end is near the point after 91 of these steps. Ours, in
// batches of 10 and with steps that fall to 0.000003, ends less than 0.001 above it; with steps that fall to 0.001 it
// was 0.2.
#include "common/example.hpp"
#include "common/table.hpp"
#include "gaussian_mixture/grid.hpp"
#include "gaussian_mixture/moments.hpp"
#include "gaussian_mixture/numpy_data.hpp"
#include "gaussian_mixture/panels.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/distributions/normal.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/full_batch/tempering.hpp>
#include <pollen/samplers/minibatch/cyclical.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <numeric>

using namespace pollen;

const std::vector<double> data = numpy_data();

// With d = x - theta1:  log(1/2 N(x; theta1, 2) + 1/2 N(x; theta1 + theta2, 2))
//     = -log 2 - log(4 pi) / 2 - d^2 / 4 + log(1 + exp(theta2 (d - theta2 / 2) / 2))
void mixture(Model<double>& m) {
    const auto theta1 = m.real("theta1"), theta2 = m.real("theta2");
    m.prior(normal_lpdf(theta1, 0, std::sqrt(10.0)));
    m.prior(normal_lpdf(theta2, 0, 1));
    Tensor<double> x = Tensor<double>::empty({std::ssize(m.batch())});
    std::ranges::transform(m.batch(), x.mutable_data(), [](auto i) { return data[static_cast<std::size_t>(i)]; });
    const auto d = m.tape().constant(x) - theta1;
    const double constants = -std::numbers::ln2 - math::log(4 * std::numbers::pi) / 2;
    const auto first = constants - square(d) / 4.0, other = softplus(theta2 * (d - theta2 / 2.0) / 2.0);
    m.likelihood(first + other);
}

// The greatest of |found - exact| / error.
double worst_z(const Run& run, const Moments& exact) {
    const Moments found = run.moments(), error = run.errors();
    double worst = 0;
    for (std::size_t k = 0; k < exact.size(); ++k) worst = std::max(worst, std::abs(found[k] - exact[k]) / error[k]);
    return worst;
}

ResultTable table_of_moments(const std::vector<Run>& runs, const Moments& exact) {
    ResultTable table({"sampler", "mean theta1", "sd theta1", "mean theta2", "sd theta2", "P(theta2 > 0)", "worst z",
                       "R-hat", "published means"});
    std::vector<Cell> first{"exact"};
    for (const double number : exact) first.emplace_back(number, 4);
    first.insert(first.end(), {"", "", "(0.4900, 0.0593)"});
    table.row(first);
    for (const Run& run : runs) {
        const Moments found = run.moments(), error = run.errors();
        std::vector<Cell> row{run.name};
        for (std::size_t k = 0; k < exact.size(); ++k) row.emplace_back(found[k], error[k], 3);
        row.insert(row.end(), {{worst_z(run, exact), 1}, {run.rhat(), 3}, run.published});
        table.row(row);
    }
    return table;
}

// theta -= 0.01 grad U, with all data.
std::array<double, 2> descend(Potential<double>& potential, std::array<double, 2> theta, int steps = 2000) {
    std::array<double, 2> gradient{};
    for (int k = 0; k < steps; ++k) {
        potential.evaluate(theta, gradient);
        for (std::size_t i = 0; i < 2; ++i) theta[i] -= 0.01 * gradient[i];
    }
    return theta;
}

// Where the two paths of SGD end, and the modes that are downhill from there.
ResultTable table_of_modes(Potential<double>& potential, const Draws& paths) {
    ResultTable table({"point", "theta1", "theta2", "U", "published"});
    const auto add = [&](const std::string& name, const std::array<double, 2>& theta, const char* published) {
        table.row({name, {theta[0], 4}, {theta[1], 4}, {potential.evaluate(theta, {}).total(), 4}, published});
    };
    const auto end = [&](std::int64_t chain) {
        return std::array{paths["theta1"](chain, paths.size() - 1), paths["theta2"](chain, paths.size() - 1)};
    };
    add("end of SGD from (1, 1)", end(0), "(-0.2327, 1.5129)");
    add("end of SGD from (1, -1)", end(1), "");
    add("mode above", descend(potential, end(0)), "(-0.25118, 1.54618), U = 198.6307");
    add("mode below", descend(potential, end(1)), "(1.28627, -1.53668), U = 198.7108");
    add("the published end", {-0.2327, 1.5129}, "");
    // The published settings: batches of all 100 numbers, a rate of 0.01, and 300 epochs from (1, 1).
    add("as published: 300 steps of 0.01", descend(potential, {1, 1}, 300), "(-0.2327, 1.5129)");
    add("as published, after 91 steps", descend(potential, {1, 1}, 91), "");
    return table;
}

// How often theta2 went from above 1 to below -1 or back, in a chain on average.
double changes_of_mode(const Run& run) {
    const Tensor<double> y = run.draws["theta2"];
    double changes = 0;
    for (std::int64_t c = 0; c < run.chains(); ++c) {
        double side = 0;
        for (std::int64_t t = 0; t < run.draws.size(); ++t) {
            if (std::abs(y(c, t)) < 1) continue;
            if (y(c, t) * side < 0) ++changes;
            side = y(c, t);
        }
    }
    return changes / static_cast<double>(run.chains());
}

// How many times the errors of one run those of another are: the least and the greatest of five.
std::pair<double, double> error_ratios(const Run& run, const Run& other) {
    Moments ratios = run.errors();
    const Moments others = other.errors();
    for (std::size_t k = 0; k < ratios.size(); ++k) ratios[k] /= others[k];
    const auto [least, most] = std::ranges::minmax(ratios);
    return {least, most};
}

constexpr const char* closing = R"(
Read the column `worst z`: by how many of its standard errors the worst of the five numbers misses the exact one. For
the samplers that see all data it is %.1f at most, and tempering goes from mode to mode most easily. SGLD in batches of
100, a crowd of eight chains, misses by %.1f, but its errors are %.0f to %.0f times those of tempering: a chain changes
its mode %.1f times in %lld steps, and the steps grow smaller all the time. A single chain, as published, says where it
happened to be: the last panel. Cyclical SGLD finds both modes again and again, in about the right proportion, but is
too wide: batches of one item are hot. SGD ends in the mode that is nearest to its start, and knows nothing of the
other.
)";

int main(int argc, char** argv) {
    Example example("A posterior with two modes: which samplers find both, and in the right proportion?", "90 seconds");
    std::int64_t length = 8000, steps = 1000000;
    example.option("--draws", length, 300, "draws of each of 16 chains, where all data are seen", 100);
    example.option("--steps", steps, 10000, "steps of each of 8 chains of SGLD, a multiple of 10000");
    return example.run(argc, argv, [&] {
        if (steps < 10000 || steps % 10000 != 0)
            throw ValueError("--steps is " + std::to_string(steps) + "; it must be a multiple of 10000");
        std::printf("%zu numbers with the mean %.16f\n", data.size(),
                    std::accumulate(data.begin(), data.end(), 0.0) / static_cast<double>(data.size()));
        ModelPotential<double> potential(mixture, std::ssize(data));
        const auto draw = [&](const std::string& name, const auto& sampler, RunOptions options) {
            std::printf("%s\n", name.c_str());
            options.seed = example.seed;
            options.directory = example.kept(name);
            options.resume = true;
            return unless_stopped(run_chains(potential, sampler, options));
        };
        std::vector<Run> runs;
        const auto add = [&](const std::string& name, const auto& sampler, const RunOptions& options,
                             const char* published = "") {
            runs.push_back({name, published, draw(name, sampler, options)});
        };

        RunOptions all_data{.chains = 16, .warmup = std::min<std::int64_t>(length, 1000), .draws = length};
        add("NUTS", Nuts{}, all_data, "agrees with the grid");
        add("HMC", Hmc{.steps = {5, 15}}, all_data);
        add("tempering", Tempering{.temperatures = {1, 2, 4}, .steps = {3, 7}}, all_data);
        all_data.thin = 10;
        add("Metropolis", Metropolis{}, all_data);

        // e_t = a (b + t)^-0.55 from 0.01 to 0.0001. Averages are weighted by e_t.
        const Schedule falling = Schedule::polynomial_between(0.01, 0.0001, 0.55, steps);
        const RunOptions batches{.chains = 8, .warmup = 0, .draws = 10000, .thin = steps / 10000, .starts = {{1, 1}}};
        add("SGLD, batch 100", Sgld{.step_size = falling, .batch = 100}, batches, "(0.621, -0.195), one chain");
        add("SGLD, batch 10", Sgld{.step_size = falling, .batch = 10}, batches, "(0.209, 0.616), one chain");
        add("SGLD, batch 1", Sgld{.step_size = falling, .batch = 1}, batches, "(0.079, 0.890), one chain");
        // Here it is the noise of batches of one item that leads from mode to mode; batches of 10 stay where they are.
        add("cyclical SGLD, batch 1",
            Cyclical{.step_size = 0.03,
                     .steps = steps,
                     .cycles = std::max<std::int64_t>(2, steps / 20000),
                     .exploration = 0.9,
                     .batch = 1},
            batches);

        // SGD is SGLD at the temperature 0. Its steps fall like 1/t: what the noise of batches leaves of U above the
        // minimum is proportional to the last of them.
        potential.set_temperature(0);
        const std::vector<std::vector<double>> starts{{1, 1}, {1, -1}};
        const Draws paths =
            draw("SGD", Sgld{.step_size = Schedule::polynomial_between(0.02, 0.000003, 1, 300000), .batch = 10},
                 {.chains = 2, .warmup = 0, .draws = 5000, .thin = 60, .starts = starts});
        potential.set_temperature(1);

        const Grid grid(potential, 0.05);
        const Moments exact = grid.sums.moments();
        const ResultTable table = table_of_moments(runs, exact), modes = table_of_modes(potential, paths);
        table.show();
        table.save(example.path("gaussian_mixture"));
        modes.show();
        modes.save(example.path("gaussian_mixture_modes"));
        draw_figure(example.path("gaussian_mixture"), data, grid, Grid(potential, 0.1), runs, {starts, paths});
        const auto run = [&](const char* name) { return *std::ranges::find(runs, name, &Run::name); };
        const Run sgld = run("SGLD, batch 100");
        const auto [least, most] = error_ratios(sgld, run("tempering"));
        double worst = 0;
        for (const char* name : {"NUTS", "HMC", "tempering", "Metropolis"})
            worst = std::max(worst, worst_z(run(name), exact));
        std::printf(closing, worst, worst_z(sgld, exact), least, most, changes_of_mode(sgld),
                    static_cast<long long>(steps));
    });
}
