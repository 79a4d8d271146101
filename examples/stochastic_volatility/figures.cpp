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

// The greatest density that is drawn.
double highest(const std::vector<Numbers>& densities) {
    double most = 0;
    for (const Numbers& density : densities) most = std::max(most, std::ranges::max(density));
    return most;
}

// Mean and sd, as a point on a bar above the densities.
void draw_mark(Panel& panel, const std::string& label, double mean, double sd, double height) {
    panel.line(label, {mean - sd, mean + sd}, {height, height});
    panel.points("", {mean}, {height});
}

// Densities of log10 |x|, so that narrow ones far apart fit on one axis. (As published the hybrid's x may be negative.)
void draw_density(Panel& panel, const Methods& methods, const std::string& name, double low, double high,
                  const Reference& known) {
    std::vector<Numbers> densities;
    for (const Method& m : methods) {
        Numbers logs, x;
        for (const double value : m[name].values()) logs.push_back(math::log10(std::abs(value)));
        const BinnedDraws histogram(logs, math::log10(low), math::log10(high), 120);
        for (const double middle : histogram.middle) x.push_back(math::pow(10.0, middle));
        panel.line(m.name, x, histogram.density);
        densities.push_back(histogram.density);
    }
    const double most = highest(densities);
    draw_mark(panel, "exact: mean ± sd", known.mean, known.sd, 1.05 * most);
    if (std::isfinite(known.stan)) draw_mark(panel, "Stan: mean ± sd", known.stan, known.stan_sd, 1.12 * most);
    panel.set("set logscale x");
    panel.set("set xrange " + range(low, high));
    panel.set("set yrange " + range(0, 1.2 * most));
    key_below(panel, 6);
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
    figure.panel_size(560, 400);
    draw_density(figure.panel("Posterior of sigma, the daily step of s", "sigma", "density of log10 sigma"), methods,
                 "sigma", 0.002, 1, known.of[0]);
    draw_density(figure.panel("Posterior of nu, degrees of freedom", "nu", "density of log10 nu"), methods, "nu", 1,
                 200, known.of[1]);
    draw_trace(figure.panel("sigma along one chain of NUTS", "draw", "sigma"), nuts_runs);
    draw_speed(
        figure.panel("NUTS: effective draws of sigma a chain-second", "coordinates", "ESS / s, warm-up included"),
        nuts_runs, known);
    figure.save();
}
