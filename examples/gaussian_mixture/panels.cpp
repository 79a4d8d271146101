#include "panels.hpp"

#include <numeric>

using namespace pollen;

namespace {

Panel& plane(Figure& figure, const std::string& title) {
    Panel& panel = figure.panel(title, "theta1", "theta2");
    panel.set("set xrange [-1.8:2.8]");
    panel.set("set yrange [-3.6:3.6]");
    panel.set("set xtics 1");
    panel.set("unset key");
    return panel;
}

// Inside the lines are 50, 90 and 99 % of the posterior.
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
    panel.set("set yrange [-0.03:1.03]");  // points at 0 and 1 as a whole
    panel.set("unset key");
}

}  // namespace

void draw_figure(const std::filesystem::path& name, const std::vector<double>& data, const Grid& grid,
                 const Grid& coarse, const std::vector<Run>& runs, const Draws& paths) {
    Figure figure(name, 4);
    figure.panel_size(330, 300);
    Panel& histogram = figure.panel("The data", "x", "density");
    const BinnedDraws binned(data, -4, 5, 18);
    histogram.bars("data", binned.middle, binned.density, 0.45);
    histogram.set("unset key");
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
    draw_shares(figure.panel("Each chain by itself; dashed: exact", "", "P(theta2 > 0)"), runs, grid.sums.moments()[4]);
    figure.save();
}
