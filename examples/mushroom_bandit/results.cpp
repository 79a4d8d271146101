#include "results.hpp"

#include "../common/figure.hpp"
#include "../common/seeds.hpp"

#include <algorithm>

namespace {

std::vector<double> offers_of(const Setting& s) {
    std::vector<double> offers;
    for (std::int64_t k = 0; k < marks; ++k)
        offers.push_back(static_cast<double>(s.length) * static_cast<double>(k + 1) / marks);
    return offers;
}

double median(std::vector<double> x) {
    std::ranges::sort(x);
    return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

}  // namespace

void show_table(const Example& example, const std::string& name, const Setting& s, const std::vector<Lives>& agents) {
    ResultTable table({"agent", "regret", "median", "more than Thompson", "late regret of 1000",
                       "eaten of first tenth, %", "edible eaten, %", "poisonous eaten, %"});
    const double edible = s.mushrooms.share_edible(), offered = static_cast<double>(s.length);
    const double leaving = regret_of_leaving * edible, poison = regret_of_poison * (1 - edible);
    const std::vector<double> thompson = agents.front().regrets();
    for (const Lives& agent : agents) {
        std::vector<double> more = agent.regrets(), early;
        for (std::size_t r = 0; r < more.size(); ++r) more[r] -= thompson[r];
        for (const double share : agent.early) early.push_back(100 * share);
        table.row({agent.name,
                   mean_cell(agent.regrets(), 0),
                   {median(agent.regrets()), 0},
                   &agent == &agents.front() ? Cell("-") : mean_cell(more, 0),
                   mean_cell(agent.of_late(2, 1000), 0),
                   mean_cell(early, 0),
                   mean_cell(agent.of_late(0, 100), 1),
                   mean_cell(agent.of_late(1, 100), 1)});
    }
    table.row({"eats none", {leaving * offered, 0}, "", "", {1000 * leaving, 0}, {0, 0}, {0, 1}, {0, 1}});
    table.row({"eats all", {poison * offered, 0}, "", "", {1000 * poison, 0}, {100, 0}, {100, 1}, {100, 1}});
    table.show();
    table.save(example.path(name));
}

void draw_curves(const Example& example, const std::string& name, const Setting& s, const std::vector<Lives>& agents) {
    Figure figure(example.path(name), 2);
    figure.panel_size(600, 380);
    Panel& curves = figure.panel("Mean, one standard error", "mushrooms offered", "regret so far, points");
    Panel& ends = figure.panel("At the end", "regret, points", "");
    const std::vector<double> at = offers_of(s);
    double highest = 0;
    for (const Lives& agent : agents) {
        const std::int64_t k = &agent - agents.data();
        std::vector<double> mean, bar_at, bar, low, high;
        for (std::int64_t m = 0; m < marks; ++m) {
            const Cell so_far = mean_cell(agent.at(m), 0);
            mean.push_back(so_far.value);
            highest = std::max(highest, so_far.value + so_far.error);
            if (m % 25 != 3 * k + 3) continue;  // bars of different agents stand side by side
            bar_at.push_back(at[static_cast<std::size_t>(m)]);
            bar.push_back(so_far.value);
            low.push_back(so_far.value - so_far.error);
            high.push_back(so_far.value + so_far.error);
        }
        if (k < 4)
            curves.line(agent.name, at, mean);
        else  // agents with the second rate
            curves.dashed(agent.name, at, mean);
        curves.intervals("", bar_at, bar, low, high);

        const std::vector<double> regrets = agent.regrets();
        const Cell all = mean_cell(regrets, 0);
        ends.row(agent.name, all.value, all.value - 2 * all.error, all.value + 2 * all.error, regrets);
    }
    curves.colour_of("data");
    curves.dashed("eats none", {0, at.back()}, {0, regret_of_leaving * s.mushrooms.share_edible() * at.back()});
    curves.set("set yrange [0:" + std::to_string(1.05 * highest) + "]");
    ends.key_of_rows("mean, two standard errors", "one run");
    ends.set("set xrange [0:*]");
    figure.save();
}

void draw_runs(const Example& example, const std::string& name, const Setting& s, const std::vector<Lives>& agents) {
    Figure figure(example.path(name + "_runs"), 4);
    figure.panel_size(350, 300);
    const std::vector<double> at = offers_of(s);
    double most = 0;
    for (const Lives& agent : agents) most = std::max(most, std::ranges::max(agent.regrets()));
    for (const Lives& agent : agents) {
        Panel& panel = figure.panel(agent.name, "mushrooms offered", "regret, points");
        for (std::int64_t r = 0; r < s.runs; ++r) {
            std::vector<double> curve;
            for (std::int64_t m = 0; m < marks; ++m) curve.push_back(agent.regret(r, m));
            panel.line(agent.name, at, curve);
        }
        panel.set("set yrange [0:" + std::to_string(1.05 * most) + "]");
        panel.set("set xtics " + std::to_string(s.length / 2));
        panel.no_key();
    }
    figure.save();
}
