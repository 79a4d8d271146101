#pragma once

#include "../common/figure.hpp"
#include "../common/table.hpp"

#include <pollen/samplers/run/run_chains.hpp>

#include <vector>

// What draws at a temperature say of the energy: its mean, and the heat capacity C = Var(E) / T^2.
struct Heat {
    double T;
    pollen::Tensor<double> energies;  // (chains, draws)
    pollen::QuantitySummary energy;
    double capacity, error;

    explicit Heat(const pollen::Draws& draws);
};

// Beside the exact numbers, and beside E_min + 2T: four quadratic terms, as there are weights, of T/2 each.
ResultTable table_of_temperatures(const std::vector<Heat>& heats);

// Over the exact curve. Bars are one standard error.
void draw_heat_capacity(Panel& panel, const std::vector<Heat>& heats);
