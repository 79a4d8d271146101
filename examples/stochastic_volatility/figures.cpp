#include "figures.hpp"

#include "../common/figure.hpp"

#include <pollen/autograd/math.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace pollen;

namespace {

Numbers numbers(const Tensor<double>& x) { return {x.begin(), x.end()}; }

std::string range(double low, double high) { return "[" + std::to_string(low) + ":" + std::to_string(high) + "]"; }

// The median and 90 % of the draws of each method, on a logarithmic axis, with the exact mean and sd. (As published the
// hybrid's x may be negative: its sign is left out.)
void draw_intervals(Panel& panel, const Methods& methods, const std::string& name, const Reference& known) {
    const Numbers ends{-0.6, static_cast<double>(methods.size()) - 0.4};
    panel.colour_of("exact");
    panel.band("", {known.mean - known.sd, known.mean + known.sd}, Numbers(2, ends[0]), Numbers(2, ends[1]));
    panel.dashed("exact mean ± sd", Numbers(2, known.mean), ends);
    for (const Method& m : methods) {
        Tensor<double> sizes = Tensor<double>::empty(m[name].shape());
        for (std::int64_t k = 0; k < sizes.size(); ++k) sizes.mutable_data()[k] = std::abs(m[name].data()[k]);
        const QuantitySummary q = summarise(Chains(sizes));
        panel.row(m.name, q.q50, q.q5, q.q95);
    }
    panel.key_of_rows("median, 90 %");
    panel.set("set logscale x");
    panel.set("set format x '%g'");
}

void draw_trace(Panel& panel, const Methods& nuts_runs) {
    for (const Method& m : nuts_runs) {
        if (m.name == "NUTS, innovations") continue;  // it has fewer draws
        const double* first_chain = m["sigma"].data();
        const Numbers sigma(first_chain, first_chain + m["sigma"].shape()[1]);
        Numbers draw;
        for (std::size_t k = 0; k < sigma.size(); ++k) draw.push_back(static_cast<double>(k));
        if (m.name == "NUTS in s")
            panel.line(m.name, draw, sigma);
        else
            panel.points(m.name, draw, sigma);
    }
}

void draw_speed(Panel& panel, const Methods& nuts_runs, const Known& known) {
    // Points: a bar on a logarithmic axis has no foot to stand on.
    const auto add = [&](const std::string& name, double speed) { panel.row(name, speed, speed, speed); };
    if (known.published) add("published: Stan in s", stan_ess_per_second);
    for (const Method& m : nuts_runs) add(m.name, m.ess_per_second());
    panel.set("set logscale x");
    panel.set("set xrange [0.1:*]");
    panel.set("set format x '%g'");
}

// A panel's title: the method, and how much of its band is not in the picture.
std::string title_of(const Method& m, double most) {
    const auto above = std::ranges::count_if(m["high"].values(), [most](double high) { return high > most; });
    const double share = 100 * static_cast<double>(above) / static_cast<double>(m["high"].size());
    if (share < 5) return m.name;
    char text[100];
    std::snprintf(text, sizeof text, "%s (band cut on %.0f %% of the days)", m.name.c_str(), share);
    return text;
}

}  // namespace

void draw_bands(const Example& example, const Methods& methods, const Market& market) {
    Figure figure(example.path("stochastic_volatility"), 2);
    figure.panel_size(560, 270);
    const Numbers truth = numbers(methods.front()["middle"]);
    const double most = 1.5 * *std::ranges::max_element(truth);
    for (const Method& m : methods) {
        Panel& panel = figure.panel(title_of(m, most), "year", "volatility, % a day");
        panel.colour_of(m.name);
        panel.band("90 %", market.years, numbers(m["low"]), numbers(m["high"]));
        if (m.has("mean low")) {
            panel.colour_of("data");
            panel.band("90 %, means", market.years, numbers(m["mean low"]), numbers(m["mean high"]));
        }
        panel.colour_of(m.name);
        panel.line("median", market.years, numbers(m["middle"]));
        if (&m != &methods.front()) panel.dashed("NUTS", market.years, truth);
        panel.set("set yrange " + range(0, most));
        panel.set("set xrange " + range(market.years.front(), market.years.back()));
    }
    figure.save();
}

void draw_posteriors(const Example& example, const Methods& methods, const Methods& nuts_runs, const Known& known) {
    Figure figure(example.path("stochastic_volatility_posteriors"), 2);
    figure.panel_size(600, 400);
    draw_intervals(figure.panel("The sd sigma of a step of s", "sigma", ""), methods, "sigma", known.of[0]);
    draw_intervals(figure.panel("Degrees of freedom nu", "nu", ""), methods, "nu", known.of[1]);
    draw_trace(figure.panel("sigma along one chain of NUTS", "draw", "sigma"), nuts_runs);
    draw_speed(figure.panel("Effective draws of sigma", "effective draws a chain-second", ""), nuts_runs, known);
    figure.save();
}
