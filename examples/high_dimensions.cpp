// Why a grid, and independent draws, find nothing in high dimensions: the shell of a Gaussian.
//
//     ./run example high_dimensions
//
// To find out what a posterior says one could evaluate it on a grid, or at places drawn evenly, and weigh each place by
// its density. How much of that is of use, if the posterior is a standard normal distribution of d numbers?
//
//     1  its draws lie in a shell: the density is highest at 0, but there is no volume; |x| is sqrt(d) within 1/sqrt(2)
//     2  a grid with 17 places on each axis, from -4 to 4: the share of its points that hold 99 % of the sum of all
//        densities, the densest ones first. Exact: only the distance matters, and the number of points at each distance
//        is a convolution.
//     3  draws from the cube (-4, 4)^d with weights exp(-x.x / 2): what they are worth, (sum w)^2 / sum w^2
//     4  the mean of x.x / d, which is 1, from these draws, and from as many evaluations of a random walk (Metropolis)
//        that begins at a random place
//
// Expected output: two tables and the figure high_dimensions. For d = 10, 0.9 % of the grid's points and 0.03 % of the
// draws count. For d = 50 it is a share of 6e-13 of the points, and 2 of 100,000 draws have all the weight: the mean of
// x.x / d is 2.78 then, and its own standard error of 0.02 does not say so. The random walk is right, within two of its
// standard errors.
#include "common/example.hpp"
#include "common/figure.hpp"
#include "common/stage.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/potentials/function_potential.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

using namespace pollen;

constexpr double half_width = 4;  // of the cube
constexpr int steps = 8;          // of the grid, to either side of 0: 17 places on an axis

// |x| of d normal numbers.
struct Radius {
    double d;

    double log_density(double r) const {
        return (d - 1) * math::log(r) - r * r / 2 - (d / 2 - 1) * std::numbers::ln2 - math::lgamma(d / 2);
    }
    double mean() const { return std::numbers::sqrt2 * math::exp(math::lgamma((d + 1) / 2) - math::lgamma(d / 2)); }
    double sd() const { return std::sqrt(d - mean() * mean()); }
};

// The share of the grid's points, the densest first, that hold 99 % of the sum of the densities.
double share_of_grid(int d) {
    // points[n]: the share of all points with x.x = n step^2
    std::vector<double> points{1};
    for (int k = 0; k < d; ++k) {
        std::vector<double> next(points.size() + steps * steps, 0);
        for (std::size_t n = 0; n < points.size(); ++n)
            for (int j = -steps; j <= steps; ++j)
                next[n + static_cast<std::size_t>(j * j)] += points[n] / (2 * steps + 1);
        points = std::move(next);
    }
    constexpr double step = half_width / steps;
    std::vector<double> mass(points.size());
    double total = 0;
    for (std::size_t n = 0; n < points.size(); ++n) {
        mass[n] = points[n] * math::exp(-step * step * static_cast<double>(n) / 2);
        total += mass[n];
    }
    double held = 0, share = 0;
    for (std::size_t n = 0; n < points.size(); ++n) {
        // Of the points at the last distance, only as many as are needed.
        const double part = mass[n] > 0 ? std::min(1.0, (0.99 * total - held) / mass[n]) : 1.0;
        held += part * mass[n];
        share += part * points[n];
        if (part < 1) break;
    }
    return share;
}

// What a draw from the cube is worth: (E w)^2 / E w^2 on each axis, w = exp(-x^2 / 2).
double worth(int d) {
    const double w = std::sqrt(2 * std::numbers::pi) * math::erf(half_width / std::numbers::sqrt2) / (2 * half_width);
    const double ww = std::sqrt(std::numbers::pi) * math::erf(half_width) / (2 * half_width);
    return math::pow(w * w / ww, d);
}

struct Weighted {
    double mean = 0, error = 0, effective = 0;
};

// The mean of x.x / d over draws from the cube, by their weights; its standard error, as one would compute it. With
// `slip` all weights are the same.
Weighted draws_from_cube(int d, std::int64_t draws, std::uint64_t seed, bool slip) {
    Random random(seed, static_cast<std::uint32_t>(d));
    std::vector<double> x(static_cast<std::size_t>(d)), squares, log_w;
    for (std::int64_t i = 0; i < draws; ++i) {
        random.fill_uniform(x, -half_width, half_width);
        double r2 = 0;
        for (const double v : x) r2 += v * v;
        squares.push_back(r2 / d);
        log_w.push_back(slip ? 0 : -r2 / 2);
    }
    const double highest = std::ranges::max(log_w);
    double w = 0, ww = 0, wx = 0, off = 0;
    for (std::size_t i = 0; i < squares.size(); ++i) {
        const double weight = math::exp(log_w[i] - highest);
        w += weight;
        ww += weight * weight;
        wx += weight * squares[i];
    }
    const double mean = wx / w;
    for (std::size_t i = 0; i < squares.size(); ++i) {
        const double weight = math::exp(log_w[i] - highest) / w;
        off += weight * weight * (squares[i] - mean) * (squares[i] - mean);
    }
    return {mean, std::sqrt(off), w * w / ww};
}

// The same by a random walk in four chains.
Weighted walk(int d, std::int64_t evaluations, std::uint64_t seed) {
    const FunctionPotential<double> normal(d, [](std::span<const double> x, std::span<double>) {
        double u = 0;
        for (const double v : x) u += v * v / 2;
        return u;
    });
    // A fifth of the evaluations is for the warm-up.
    const Draws draws = unless_stopped(run_chains(normal, Metropolis{.metric = MetricKind::unit},
                                                  {.warmup = evaluations / 20,
                                                   .draws = evaluations / 5,
                                                   .seed = seed,
                                                   .radius = half_width,
                                                   .show = Show::nothing}));
    Tensor<double> squares = draws.statistic(&ChainRecord::energy);
    for (double& u : squares.mutable_values()) u *= 2.0 / d;
    const QuantitySummary s = summarise(Chains(squares));
    return {s.mean, s.mcse, ess_mean(squares)};
}

// A number of any size, as text: 44000, 0.012 or 3e-07.
std::string power(double x) {
    char text[30];
    std::snprintf(text, sizeof text, x > 99 ? "%.0f" : x > 0.001 ? "%.2g" : "%.0e", x);
    return text;
}

void shell(const Example& example, std::int64_t draws, Panel& panel) {
    std::printf("The shell: |x| of %lld draws\n", static_cast<long long>(draws));
    ResultTable table(
        {"d", "mean radius", "exact", "sd of radius", "exact sd", "log density at 0 less that at the mean"});
    for (const int d : {1, 2, 10, 50, 100}) {
        const Radius law{static_cast<double>(d)};
        Random random(example.seed, 1000 + static_cast<std::uint32_t>(d));
        std::vector<double> x(static_cast<std::size_t>(d)), radii;
        double mean = 0, squares = 0;
        for (std::int64_t i = 0; i < draws; ++i) {
            random.fill_normal(x);
            double r2 = 0;
            for (const double v : x) r2 += v * v;
            radii.push_back(std::sqrt(r2));
            mean += radii.back() / static_cast<double>(draws);
        }
        for (const double r : radii) squares += (r - mean) * (r - mean);
        const double n = static_cast<double>(draws), sd = std::sqrt(squares / (n - 1));
        table.row({std::to_string(d),
                   {mean, sd / std::sqrt(n), 3},
                   {law.mean(), 3},
                   {sd, sd / std::sqrt(2 * n), 3},
                   {law.sd(), 3},
                   {law.mean() * law.mean() / 2, 1}});
        std::vector<double> at, density;
        for (int k = 1; k <= 480; ++k) {
            at.push_back(0.025 * k);
            density.push_back(math::exp(law.log_density(at.back())));
        }
        const BinnedDraws binned(radii, 0, 12, 48);
        std::vector<double> middle, measured;
        for (std::size_t k = 0; k < binned.middle.size(); ++k)
            if (binned.density[k] > 0) {
                middle.push_back(binned.middle[k]);
                measured.push_back(binned.density[k]);
            }
        panel.line("d = " + std::to_string(d), at, density);
        panel.points("", middle, measured);
    }
    table.show();
    table.save(example.path("high_dimensions_shell"));
    panel.set("set xrange [0:12]");
    panel.set("set yrange [0:0.9]");
}

void search(const Example& example, std::int64_t draws, bool slip, Panel& shares, Panel& answers) {
    std::printf("\nA grid, %lld draws from a cube, and a random walk; the mean of x.x / d is 1\n",
                static_cast<long long>(draws));
    ResultTable table({"d", "grid points that count", "draws that count", "expected", "cube: x.x / d", "walk: x.x / d",
                       "walk: draws that count"});
    std::vector<double> dimension, cube, cube_low, cube_high, walked, walked_low, walked_high, effective;
    for (const int d : {1, 2, 5, 10, 20, 50, 100}) {
        const Found run = stage(example, "d = " + std::to_string(d), [&] {
            const Weighted even = draws_from_cube(d, draws, example.seed, slip), chain = walk(d, draws, example.seed);
            return Found{{"cube", {even.mean, even.error, even.effective}},
                         {"walk", {chain.mean, chain.error, chain.effective}}};
        });
        const Tensor<double>&c = run.at("cube"), &w = run.at("walk");
        table.row({std::to_string(d),
                   power(share_of_grid(d)),
                   {c(2), 1},
                   power(worth(d) * static_cast<double>(draws)),
                   {c(0), c(1), 3},
                   {w(0), w(1), 3},
                   {w(2), 0}});
        dimension.push_back(d);
        cube.push_back(c(0));
        cube_low.push_back(c(0) - c(1));
        cube_high.push_back(c(0) + c(1));
        walked.push_back(w(0));
        walked_low.push_back(w(0) - w(1));
        walked_high.push_back(w(0) + w(1));
        effective.push_back(c(2) / static_cast<double>(draws));
    }
    table.show();
    table.save(example.path("high_dimensions"));
    std::vector<double> all, of_grid, of_draws;
    for (int d = 1; d <= 60; ++d) {
        all.push_back(d);
        of_grid.push_back(share_of_grid(d));
        of_draws.push_back(worth(d));
    }
    shares.line("draws from the cube", all, of_draws);
    shares.crosses("", dimension, effective);
    shares.line("grid: points with 99 %", all, of_grid);
    shares.set("set logscale y");
    shares.set("set format y '%.0e'");
    shares.set("set xrange [0:60]");
    shares.set("set yrange [1e-22:1]");
    answers.dashed("exact", {1, 100}, {1, 1});
    answers.intervals("draws from the cube", dimension, cube, cube_low, cube_high);
    answers.intervals("random walk", dimension, walked, walked_low, walked_high);
    answers.set("set logscale x");
    answers.set("set xrange [0.8:130]");
    answers.set("set yrange [0:4]");
}

int main(int argc, char** argv) {
    Example example("Why a grid, and independent draws, find nothing in high dimensions.", "10 seconds");
    std::int64_t draws = 100000;
    bool slip = false;
    example.option("--draws", draws, 10000, "from the cube, and evaluations of the random walk", 1000);
    example.flag("--slip", slip, "a broken twin for the tests: draws from the cube without their weights");
    return example.run(argc, argv, [&] {
        Figure figure(example.path("high_dimensions"), 3);
        shell(example, draws, figure.panel("The distance of a normal draw from 0", "|x|", "density"));
        Panel& shares = figure.panel("Points that count", "dimension d", "share that counts");
        search(example, draws, slip, shares, figure.panel("The mean of x.x / d", "dimension d", "mean of x.x / d"));
        figure.save();
    });
}
