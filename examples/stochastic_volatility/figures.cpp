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

// The key below the axis, where it takes some lines.
void key_below(Panel& panel, int lines) {
    panel.set("set key bmargin center horizontal samplen 5");
    panel.set("set bmargin " + std::to_string(3.5 + lines));
}

// Names below the axis, at an angle.
void name_below(Panel& panel, const std::vector<std::string>& names) {
    panel.categories(names);
    panel.set("set xtics rotate by 35 right");
    panel.set("set bmargin 9");
    panel.set("set rmargin 2");
}

// The median and 90 % of the draws of each method, on a logarithmic axis, with the exact mean and sd. (As published the
// hybrid's x may be negative: its sign is left out.)
void draw_intervals(Panel& panel, const Methods& methods, const std::string& name, const Reference& known) {
    std::vector<std::string> names;
    Numbers x, low, middle, high;
    for (const Method& m : methods) {
        Tensor<double> sizes = Tensor<double>::empty(m[name].shape());
        for (std::int64_t k = 0; k < sizes.size(); ++k) sizes.mutable_data()[k] = std::abs(m[name].data()[k]);
        const QuantitySummary q = summarise(Chains(sizes));
        x.push_back(static_cast<double>(names.size()));
        low.push_back(q.q5);
        middle.push_back(q.q50);
        high.push_back(q.q95);
        names.push_back(m.name);
    }
    const Numbers ends{-0.6, x.back() + 0.6};
    panel.colour(2);
    panel.band("exact mean ± sd", ends, Numbers(2, known.mean - known.sd), Numbers(2, known.mean + known.sd));
    panel.colour(2);
    panel.dashed("exact mean", ends, Numbers(2, known.mean));
    panel.colour(0);
    panel.intervals("median and 90 % of the draws", x, middle, low, high);
    name_below(panel, names);
    panel.set("set logscale y");
    panel.set("set format y '%g'");
    panel.set("set key top right");
    panel.set("set yrange [*:" + std::to_string(8 * *std::ranges::max_element(high)) + "]");
}

void draw_trace(Panel& panel, const Methods& nuts_runs) {
    for (const Method& m : nuts_runs) {
        if (m.name == "NUTS, innovations") continue;  // it has fewer draws
        const double* first_chain = m["sigma"].data();
        const Numbers sigma(first_chain, first_chain + m["sigma"].shape()[1]);
        Numbers draw;
        for (std::size_t k = 0; k < sigma.size(); ++k) draw.push_back(static_cast<double>(k));
        panel.line(m.name, draw, sigma);
    }
    key_below(panel, 1);
}

void draw_speed(Panel& panel, const Methods& nuts_runs, const Known& known) {
    Numbers x, speeds;
    std::vector<std::string> names;
    const auto add = [&](const std::string& name, double speed) {
        x.push_back(static_cast<double>(names.size()));
        speeds.push_back(speed);
        names.push_back(name);
    };
    if (known.published) add("Stan in s", stan_ess_per_second);
    for (const Method& m : nuts_runs) add(m.name.substr(m.name.find(' ') + 1), m.ess_per_second());  // without "NUTS, "
    panel.intervals("", x, speeds, speeds, speeds);  // points: a bar on a logarithmic axis has no foot to stand on
    panel.categories(names);
    panel.set("set logscale y");
    panel.set("set yrange [0.1:*]");
    panel.set("set format y '%g'");
}

// A panel's title: the method, and how much of its band is not in the picture.
std::string title_of(const Method& m, double most) {
    const auto above = std::ranges::count_if(m["high"].values(), [most](double high) { return high > most; });
    const double share = 100 * static_cast<double>(above) / static_cast<double>(m["high"].size());
    if (share < 5) return m.name;
    char text[100];
    std::snprintf(text, sizeof text, "%s (90 %% leave the scale on %.0f %% of the days)", m.name.c_str(), share);
    return text;
}

}  // namespace

void draw_bands(const Example& example, const Methods& methods, const Market& market) {
    Figure figure(example.path("stochastic_volatility"), 2);
    figure.panel_size(560, 310);
    const Numbers truth = numbers(methods.front()["middle"]);
    const double most = 1.5 * *std::ranges::max_element(truth);
    for (const Method& m : methods) {
        Panel& panel = figure.panel(title_of(m, most), "year", "volatility exp(s), % a day");
        panel.band("90 %", market.years, numbers(m["low"]), numbers(m["high"]));
        if (m.has("mean low")) {
            panel.colour(2);
            panel.band("90 % of the means", market.years, numbers(m["mean low"]), numbers(m["mean high"]));
        }
        panel.colour(0);
        panel.line("median", market.years, numbers(m["middle"]));
        panel.colour(1);
        if (&m != &methods.front()) panel.dashed("median of NUTS", market.years, truth);
        key_below(panel, 2);
        panel.set("set yrange " + range(0, most));
        panel.set("set xrange " + range(market.years.front(), market.years.back()));
    }
    figure.save();
}

void draw_posteriors(const Example& example, const Methods& methods, const Methods& nuts_runs, const Known& known) {
    Figure figure(example.path("stochastic_volatility_posteriors"), 2);
    figure.panel_size(560, 430);
    draw_intervals(figure.panel("sigma, the sd of a step of s", "", "sigma"), methods, "sigma", known.of[0]);
    draw_intervals(figure.panel("nu, degrees of freedom", "", "nu"), methods, "nu", known.of[1]);
    draw_trace(figure.panel("sigma along one chain of NUTS", "draw", "sigma"), nuts_runs);
    draw_speed(
        figure.panel("NUTS: effective draws of sigma a chain-second", "coordinates", "ESS / s, warm-up included"),
        nuts_runs, known);
    figure.save();
}
