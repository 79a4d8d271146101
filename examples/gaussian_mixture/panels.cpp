#include "panels.hpp"

#include <pollen/autograd/math.hpp>

#include <numeric>

using namespace pollen;

namespace {

Panel& plane(Figure& figure, const std::string& title) {
    Panel& panel = figure.panel(title, "theta1", "theta2");
    panel.set("set xrange [-1.8:2.8]");
    panel.set("set yrange [-3.6:3.6]");
    panel.set("set xtics 1");
    panel.no_key();
    return panel;
}

// Inside the lines are 50, 90 and 99 % of the posterior. Between the points of a grid the log of the density is nearly
// a parabola, which the density itself is not: lines of its log are smooth.
void draw_contours(Panel& panel, const Grid& grid, const Grid& coarse) {
    std::vector<double> log_density, levels;
    for (const double density : coarse.density) log_density.push_back(math::log(density));
    for (const double share : {0.5, 0.9, 0.99}) levels.push_back(math::log(grid.level(share)));
    panel.contours("exact", coarse.x, coarse.y, log_density, levels);
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
    panel.colour_of(run.name);
    panel.points("draws of one chain", xs, ys);
}

// Crosses are where they begin.
void draw_paths(Panel& panel, const Paths& paths) {
    const Tensor<double> x = paths.draws["theta1"], y = paths.draws["theta2"];
    for (std::size_t k = 0; k < paths.starts.size(); ++k) {
        std::vector<double> xs{paths.starts[k][0]}, ys{paths.starts[k][1]};
        for (std::int64_t t = 0; t < paths.draws.size(); ++t) {
            xs.push_back(x(static_cast<std::int64_t>(k), t));
            ys.push_back(y(static_cast<std::int64_t>(k), t));
        }
        panel.line("SGD", xs, ys);
        panel.crosses("", {xs[0]}, {ys[0]});
    }
}

// P(theta2 > 0) with two standard errors, and of each chain by itself.
void draw_shares(Panel& panel, const std::vector<Run>& runs, double exact) {
    panel.dashed("exact", {exact, exact}, {-0.6, static_cast<double>(runs.size()) - 0.4});
    for (const Run& run : runs) {
        std::vector<double> shares;
        for (std::int64_t c = 0; c < run.chains(); ++c) shares.push_back(run.only(c)[4]);
        const double all = run.moments()[4], error = run.errors()[4];
        panel.row(run.name, all, all - 2 * error, all + 2 * error, shares);
    }
    panel.no_key();
    panel.set("set xrange [-0.03:1.03]");  // crosses at 0 and 1 as a whole
    panel.set("set xtics 0, 0.5, 1");
}

}  // namespace

void draw_figure(const std::filesystem::path& name, const std::vector<double>& data, const Grid& grid,
                 const Grid& coarse, const std::vector<Run>& runs, const Paths& paths) {
    Figure figure(name, 4);
    figure.panel_size(400, 310);
    Panel& histogram = figure.panel("The data", "x", "density");
    const BinnedDraws binned(data, -4, 5, 18);
    histogram.bars("data", binned.middle, binned.density, 0.45);
    histogram.no_key();
    Panel& exact = plane(figure, "Exact posterior: 50, 90 and 99 %");
    exact.heat(grid.x, grid.y, grid.density);
    draw_contours(exact, grid, coarse);
    for (const Run& run : runs) {
        Panel& panel = plane(figure, run.name + ", one chain");
        draw_draws(panel, run);
        draw_contours(panel, grid, coarse);
    }
    Panel& descent = plane(figure, "SGD, batch 10; crosses: its starts");
    draw_paths(descent, paths);
    draw_contours(descent, grid, coarse);
    draw_shares(figure.panel("Bar: 2 standard errors; x: a chain", "P(theta2 > 0)", ""), runs, grid.sums.moments()[4]);
    figure.save();
}
