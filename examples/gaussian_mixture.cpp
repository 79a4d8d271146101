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
// converged: it ends where U is 0.003 above the minimum.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/table.hpp"

#include <pollen/nn/distributions/normal.hpp>
#include <pollen/nn/model.hpp>
#include <pollen/samplers/cyclical.hpp>
#include <pollen/samplers/hmc.hpp>
#include <pollen/samplers/metropolis.hpp>
#include <pollen/samplers/nuts.hpp>
#include <pollen/samplers/run.hpp>
#include <pollen/samplers/sgld.hpp>
#include <pollen/samplers/tempering.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <numbers>
#include <numeric>
#include <random>

using namespace pollen;

// ---- The data. ----

// The random numbers of NumPy's RandomState: a Mersenne twister, 53 bits of two words, polar normals (Marsaglia).
class NumPyRandom {
  public:
    explicit NumPyRandom(std::uint32_t seed) : words_(seed) {}

    double uniform() {
        const double a = static_cast<double>(words_() >> 5), b = static_cast<double>(words_() >> 6);
        return (a * 67108864 + b) / 9007199254740992;
    }
    double normal(double mean, double sd) {
        has_second_ = !has_second_;
        if (!has_second_) return mean + sd * second_;
        double x, y, r2;
        do {
            x = 2 * uniform() - 1;
            y = 2 * uniform() - 1;
            r2 = x * x + y * y;
        } while (r2 >= 1 || r2 == 0);
        const double f = std::sqrt(-2 * std::log(r2) / r2);
        second_ = f * x;
        return mean + sd * f * y;
    }

  private:
    std::mt19937 words_;
    double second_ = 0;
    bool has_second_ = false;
};

constexpr std::int64_t items = 100;

// Seed 3. The numbers were made with the variance 1.6^2, to have two modes at all, and are modelled with 2.
std::vector<double> make_data() {
    NumPyRandom random(3);
    std::vector<double> u(items), a(items), b(items);
    for (double& x : u) x = random.uniform();
    for (double& x : a) x = random.normal(0, 1.6);
    for (double& x : b) x = random.normal(1, 1.6);
    for (std::size_t i = 0; i < u.size(); ++i)
        if (u[i] > 0.5) b[i] = a[i];
    return b;
}

const std::vector<double> data = make_data();

// ---- The model. ----

// With d = x - theta1:  log(1/2 N(x; theta1, 2) + 1/2 N(x; theta1 + theta2, 2))
//     = -log 2 - log(4 pi) / 2 - d^2 / 4 + log(1 + exp(theta2 (d - theta2 / 2) / 2))
void mixture(Model<double>& m) {
    const auto theta1 = m.real("theta1"), theta2 = m.real("theta2");
    m.prior(normal_lpdf(theta1, 0, std::sqrt(10.0)));
    m.prior(normal_lpdf(theta2, 0, 1));
    Tensor<double> x = Tensor<double>::empty({std::ssize(m.batch())});
    std::ranges::transform(m.batch(), x.mutable_data(), [](auto i) { return data[static_cast<std::size_t>(i)]; });
    const auto d = m.tape().constant(x) - theta1;
    const double constants = -std::numbers::ln2 - std::log(4 * std::numbers::pi) / 2;
    m.likelihood(constants - square(d) / 4.0 + softplus(theta2 * (d - theta2 / 2.0) / 2.0));
}

// ---- What is compared. ----

// Means and standard deviations of theta1 and theta2, and P(theta2 > 0).
using Numbers = std::array<double, 5>;

// Sums over points, each with its weight.
struct Sums {
    std::array<double, 6> s = {};
    void add(double x, double y, double weight) {
        const std::array<double, 6> terms{1, x, x * x, y, y * y, y > 0 ? 1.0 : 0.0};
        for (std::size_t k = 0; k < 6; ++k) s[k] += weight * terms[k];
    }
    Numbers numbers() const {
        const double x = s[1] / s[0], y = s[3] / s[0];
        return {x, std::sqrt(s[2] / s[0] - x * x), y, std::sqrt(s[4] / s[0] - y * y), s[5] / s[0]};
    }
};

// The posterior on a grid of cells.
struct Grid {
    std::vector<double> x, y, density;  // density[i x.size() + j] at x[j], y[i]
    Sums sums;

    Grid(Potential<double>& potential, double cell) {
        for (double at = -2.5 + cell / 2; at < 3.5; at += cell) x.push_back(at);
        for (double at = -5 + cell / 2; at < 5; at += cell) y.push_back(at);
        for (const double b : y)
            for (const double a : x) {
                const std::array<double, 2> theta{a, b};
                density.push_back(std::exp(198 - potential.evaluate(theta, {}).total()));
                sums.add(a, b, density.back());
            }
    }
    // The height of the line that has a share of all probability inside.
    double level(double share) const {
        std::vector<double> falling = density;
        std::ranges::sort(falling, std::greater());
        double inside = 0;
        std::size_t k = 0;
        while (inside < share * sums.s[0]) inside += falling[k++];
        return falling[k];
    }
};

// What one sampler made of it.
struct Run {
    std::string name, published;
    Draws draws;

    std::int64_t chains() const { return std::ssize(draws.chains); }
    // Of all chains but one, or of a single one.
    Numbers without(std::int64_t chain) const {
        return numbers([chain](std::int64_t c) { return c != chain; });
    }
    Numbers only(std::int64_t chain) const {
        return numbers([chain](std::int64_t c) { return c == chain; });
    }
    // Their standard errors by the jackknife: from how much they change where a chain is left out. It takes chains to
    // be independent and nothing else, so it is honest where single chains are stuck.
    Numbers errors() const {
        const Numbers all = without(-1);
        const double n = static_cast<double>(chains());
        Numbers squares{};
        for (std::int64_t c = 0; c < chains(); ++c) {
            const Numbers some = without(c);
            for (std::size_t k = 0; k < 5; ++k) squares[k] += (n - 1) / n * (some[k] - all[k]) * (some[k] - all[k]);
        }
        for (double& s : squares) s = std::sqrt(s);
        return squares;
    }

  private:
    Numbers numbers(const std::function<bool(std::int64_t)>& counts) const {
        const Tensor<double> x = draws["theta1"], y = draws["theta2"];
        const Tensor<double> weight = draws.statistic(&ChainRecord::weight);
        Sums sums;
        for (std::int64_t c = 0; c < chains(); ++c)
            for (std::int64_t t = 0; counts(c) && t < draws.size(); ++t) sums.add(x(c, t), y(c, t), weight(c, t));
        return sums.numbers();
    }
};

ResultTable table_of_moments(const std::vector<Run>& runs, const Numbers& exact) {
    ResultTable table({"sampler", "mean theta1", "sd theta1", "mean theta2", "sd theta2", "P(theta2 > 0)", "worst z",
                       "R-hat", "published means"});
    std::vector<Cell> first{"exact"};
    for (const double number : exact) first.emplace_back(number, 4);
    first.insert(first.end(), {"", "", "(0.4900, 0.0593)"});
    table.row(first);
    for (const Run& run : runs) {
        const Numbers found = run.without(-1), error = run.errors();
        std::vector<Cell> row{run.name};
        double worst = 0;
        for (std::size_t k = 0; k < 5; ++k) {
            row.emplace_back(found[k], error[k], 3);
            worst = std::max(worst, std::abs(found[k] - exact[k]) / error[k]);
        }
        row.insert(row.end(), {{worst, 1}, {rhat(run.draws["theta2"]), 3}, run.published});
        table.row(row);
    }
    return table;
}

// theta -= rate grad U, with all data.
std::array<double, 2> descend(Potential<double>& potential, std::array<double, 2> theta) {
    std::array<double, 2> gradient{};
    for (int k = 0; k < 2000; ++k) {
        potential.evaluate(theta, gradient);
        for (std::size_t i = 0; i < 2; ++i) theta[i] -= 0.01 * gradient[i];
    }
    return theta;
}

ResultTable table_of_modes(Potential<double>& potential, const Draws& paths) {
    ResultTable table({"point", "theta1", "theta2", "U", "published"});
    const auto add = [&](const std::string& name, const std::array<double, 2>& theta, const char* published) {
        table.row({name, {theta[0], 4}, {theta[1], 4}, {potential.evaluate(theta, {}).total(), 4}, published});
    };
    const Tensor<double> x = paths["theta1"], y = paths["theta2"];
    const std::int64_t last = paths.size() - 1;
    add("end of SGD from (1, 1)", {x(0, last), y(0, last)}, "(-0.2327, 1.5129)");
    add("end of SGD from (1, -1)", {x(1, last), y(1, last)}, "");
    add("mode above", descend(potential, {x(0, last), y(0, last)}), "(-0.25118, 1.54618), U = 198.6307");
    add("mode below", descend(potential, {x(1, last), y(1, last)}), "(1.28627, -1.53668), U = 198.7108");
    add("the published end", {-0.2327, 1.5129}, "");
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

// ---- The figure. ----

Panel& plane(Figure& figure, const std::string& title) {
    Panel& panel = figure.panel(title, "theta1", "theta2");
    panel.set("set xrange [-1.8:2.8]");
    panel.set("set yrange [-3.6:3.6]");
    panel.set("set xtics 1");
    panel.set("unset key");
    return panel;
}

// Inside of the lines there are 50, 90 and 99 % of the posterior.
void draw_contours(Panel& panel, const Grid& grid, const Grid& coarse) {
    panel.colour(6);
    panel.contours("exact", coarse.x, coarse.y, coarse.density, {grid.level(0.5), grid.level(0.9), grid.level(0.99)});
}

// 500 draws of the first chain, each as often as its weight asks for.
void draw_draws(Panel& panel, const Run& run) {
    const Tensor<double> x = run.draws["theta1"], y = run.draws["theta2"];
    const std::vector<double>& weight = run.draws.chains[0].weight;
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    double passed = 0;
    std::vector<double> xs, ys;
    for (std::int64_t t = 0; t < run.draws.size(); ++t) {
        passed += weight[static_cast<std::size_t>(t)] / total;
        for (; static_cast<double>(xs.size()) + 0.5 < 500 * passed; xs.push_back(x(0, t))) ys.push_back(y(0, t));
    }
    panel.points("draws of one chain", xs, ys);
}

void draw_paths(Panel& panel, const Draws& paths) {
    const Tensor<double> x = paths["theta1"], y = paths["theta2"];
    for (const std::int64_t chain : {0, 1}) {
        std::vector<double> xs, ys;
        for (std::int64_t t = 0; t < paths.size(); ++t) {
            xs.push_back(x(chain, t));
            ys.push_back(y(chain, t));
        }
        panel.line("path", xs, ys);
    }
}

// P(theta2 > 0) of each chain by itself.
void draw_shares(Panel& panel, const std::vector<Run>& runs, double exact) {
    std::vector<std::string> names;
    std::vector<double> at, share;
    for (const Run& run : runs) {
        for (std::int64_t c = 0; c < run.chains(); ++c) {
            at.push_back(static_cast<double>(names.size()));
            share.push_back(run.only(c)[4]);
        }
        names.push_back(run.name);
    }
    panel.points("a chain", at, share);
    panel.dashed("exact", {-0.6, static_cast<double>(names.size()) - 0.4}, {exact, exact});
    panel.categories(names);
    panel.set("set xtics rotate by 40 right");
    panel.set("set yrange [0:1]");
    panel.set("unset key");
}

void draw(const std::filesystem::path& name, const Grid& grid, const Grid& coarse, const std::vector<Run>& runs,
          const Draws& paths) {
    Figure figure(name, 4);
    figure.panel_size(330, 300);
    Panel& numbers = figure.panel("The data", "x", "density");
    const BinnedDraws histogram(data, -4, 5, 18);
    numbers.bars("data", histogram.middle, histogram.density, 0.45);
    numbers.set("unset key");
    Panel& exact = plane(figure, "Exact posterior: 50, 90 and 99 %");
    exact.heat(grid.x, grid.y, grid.density);
    draw_contours(exact, grid, coarse);
    for (const Run& run : runs) {
        Panel& panel = plane(figure, run.name + ", one chain");
        draw_draws(panel, run);
        draw_contours(panel, grid, coarse);
    }
    Panel& descent = plane(figure, "SGD, batch 10, from two starts");
    draw_paths(descent, paths);
    draw_contours(descent, grid, coarse);
    draw_shares(figure.panel("Each chain by itself; dashed: exact", "", "P(theta2 > 0)"), runs, grid.sums.numbers()[4]);
    figure.save();
}

constexpr const char* closing = R"(
Read the column `worst z`: by how many of its standard errors the worst of the five numbers misses the exact one. The
samplers that see all data pass, tempering at the least cost of mixing (R-hat). SGLD n, in batches of n, agrees as a
crowd of eight chains, but with errors that are fifteen times those of tempering: a chain of SGLD 100 changes its mode
%.1f times in %lld steps, and the steps grow smaller all the time. A single chain, as published, says where it happened to
be: the last panel. Cyclical SGLD finds both modes again and again, in about the right proportion, but is too wide:
batches of one item are hot. SGD ends in the mode that is nearest to its start, and knows nothing of the other.
)";

int main(int argc, char** argv) {
    Example example("A posterior with two modes: which samplers find both, and in the right proportion?", "90 seconds");
    std::int64_t length = 8000, steps = 1000000;
    example.option("--draws", length, 300, "draws of each of 16 chains, where all data are seen");
    example.option("--steps", steps, 10000, "steps of each of 8 chains of SGLD");
    return example.run(argc, argv, [&] {
        if (length < 100 || steps < 10000) throw ValueError("--draws must be at least 100 and --steps at least 10000");
        std::printf("%lld numbers with the mean %.16f\n", static_cast<long long>(items),
                    std::accumulate(data.begin(), data.end(), 0.0) / items);
        ModelPotential<double> potential(mixture, items);
        const Grid grid(potential, 0.05);
        std::vector<Run> runs;
        RunOptions options{.chains = 16,
                           .warmup = std::min<std::int64_t>(length, 1000),
                           .draws = length,
                           .seed = example.seed,
                           .resume = true};
        const auto sample = [&](const std::string& name, const auto& sampler, const std::string& published) {
            std::printf("%s\n", name.c_str());
            options.directory = example.kept(name);
            runs.push_back({name, published, unless_stopped(run_chains(potential, sampler, options))});
        };
        sample("NUTS", Nuts{}, "agrees with the grid");
        sample("HMC", Hmc{.steps = {5, 15}}, "");
        sample("tempering", Tempering{.temperatures = {1, 2, 4}, .steps = {3, 7}}, "");
        options.thin = 10;
        sample("Metropolis", Metropolis{}, "");

        // e_t = a (b + t)^-0.55 from 0.01 to 0.0001. Averages are weighted by e_t.
        const Schedule falling = Schedule::polynomial_between(0.01, 0.0001, 0.55, steps);
        options.chains = 8;
        options.warmup = 0;
        options.thin = steps / 10000;
        options.draws = 10000;
        options.starts = {{1, 1}};
        sample("SGLD 100", Sgld{.step_size = falling, .batch = 100}, "(0.621, -0.195), one chain");
        sample("SGLD 10", Sgld{.step_size = falling, .batch = 10}, "(0.209, 0.616), one chain");
        sample("SGLD 1", Sgld{.step_size = falling, .batch = 1}, "(0.079, 0.890), one chain");
        // Here it is the noise of batches of one item that leads from mode to mode; batches of 10 stay where they are.
        sample("cyclical SGLD 1",
               Cyclical{.step_size = 0.03,
                        .steps = steps,
                        .cycles = std::max<std::int64_t>(2, steps / 20000),
                        .exploration = 0.9,
                        .batch = 1},
               "");

        // SGD is SGLD at the temperature 0.
        ModelPotential<double> cold(mixture, items);
        cold.set_temperature(0);
        options.chains = 2;
        options.thin = 1;
        options.draws = 3000;
        options.starts = {{1, 1}, {1, -1}};
        options.directory = example.kept("SGD");
        const Schedule annealed = Schedule::polynomial_between(0.02, 0.001, 0.55, options.draws);
        const Draws paths = unless_stopped(run_chains(cold, Sgld{.step_size = annealed, .batch = 10}, options));

        const ResultTable table = table_of_moments(runs, grid.sums.numbers()), modes = table_of_modes(potential, paths);
        table.show();
        table.save(example.path("gaussian_mixture"));
        modes.show();
        modes.save(example.path("gaussian_mixture_modes"));
        draw(example.path("gaussian_mixture"), grid, Grid(potential, 0.125), runs, paths);
        std::printf(closing, changes_of_mode(runs[4]), static_cast<long long>(steps));
    });
}
