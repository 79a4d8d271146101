#include "heat.hpp"

#include "exact.hpp"

#include <pollen/autograd/math.hpp>

#include <cmath>

using namespace pollen;

// A chain records E / T.
Heat::Heat(const Draws& draws) : T(draws.temperature) {
    Tensor<double> e = draws.statistic(&ChainRecord::energy);
    for (double& x : e.mutable_values()) x *= T;
    energies = e;
    energy = summarise(Chains(e));
    capacity = energy.sd * energy.sd / (T * T);
    error = 2 * energy.sd * mcse_sd(e) / (T * T);
}

ResultTable table_of_temperatures(const std::vector<Heat>& heats) {
    ResultTable table({"T", "mean energy", "exact", "E_min + 2T", "heat capacity", "exact C", "R-hat"});
    const double lowest = exact(0.25).lowest;
    for (const Heat& heat : heats) {
        const Exact known = exact(heat.T);
        table.row({std::to_string(std::lround(heat.T)),
                   {heat.energy.mean, heat.energy.mcse, 3},
                   {known.energy, 3},
                   {lowest + 2 * heat.T, 3},
                   {heat.capacity, heat.error, 3},
                   {known.heat_capacity, 3},
                   {heat.energy.rhat, 3}});
    }
    return table;
}

void draw_heat_capacity(Panel& panel, const std::vector<Heat>& heats) {
    std::vector<double> curve_T, curve_C, T, value, low, high;
    for (int k = -4; k <= 20; ++k) {
        curve_T.push_back(math::exp2(k / 4.0));
        curve_C.push_back(exact(curve_T.back()).heat_capacity);
    }
    for (const Heat& heat : heats) {
        T.push_back(heat.T);
        value.push_back(heat.capacity);
        low.push_back(heat.capacity - heat.error);
        high.push_back(heat.capacity + heat.error);
    }
    panel.line("exact", curve_T, curve_C);
    panel.intervals("tempering", T, value, low, high);
    panel.dashed("a quadratic valley", {0.5, 32}, {2, 2});
    panel.set("set logscale x 2");
    panel.set("set xrange [0.5:32]");
    panel.set("set yrange [1.5:4]");
}
