#include "entropy.hpp"

#include "exact.hpp"

#include <pollen/autograd/math.hpp>

#include <cmath>
#include <string>

using namespace pollen;

// log Z_b / Z_a, the ratio of the integrals of exp(-b E) and exp(-a E), from draws of both (Bennett, Efficient
// estimation of free energy differences from Monte Carlo data, 1976): the C with
//
//     mean over the draws at a of 1 / (1 + exp((b - a) E + C)) = mean over those at b of 1 / (1 + exp(-(b - a) E - C))
//
// Chain `without` is left out of both; -1: none.
static double log_ratio(const Heat& at_a, const Heat& at_b, std::int64_t without) {
    const double d = 1 / at_b.T - 1 / at_a.T;
    const auto mean = [&](const Tensor<double>& energies, double sign, double C) {
        double sum = 0, n = 0;
        for (std::int64_t c = 0; c < energies.shape()[0]; ++c) {
            if (c == without) continue;
            for (std::int64_t t = 0; t < energies.shape()[1]; ++t) {
                sum += 1 / (1 + math::exp(sign * (d * energies(c, t) + C)));
                n += 1;
            }
        }
        return sum / n;
    };
    double low = -200, high = 200;
    while (high - low > 1e-9) {
        const double C = (low + high) / 2;
        (mean(at_a.energies, 1, C) > mean(at_b.energies, -1, C) ? low : high) = C;
    }
    return (low + high) / 2;
}

// S = U / T + log Z, less that at the first temperature.
static double entropy_gained(const std::vector<Heat>& heats, std::size_t k, std::int64_t without, bool slip) {
    const auto energy_over_T = [&](const Heat& heat) {
        double sum = 0, n = 0;
        for (std::int64_t c = 0; c < heat.energies.shape()[0]; ++c)
            for (std::int64_t t = 0; c != without && t < heat.energies.shape()[1]; ++t) {
                sum += heat.energies(c, t);
                n += 1;
            }
        return sum / n / (slip ? 1 : heat.T);
    };
    double gained = energy_over_T(heats[k]) - energy_over_T(heats[0]);
    for (std::size_t i = 0; i < k; ++i) gained += log_ratio(heats[i], heats[i + 1], without);
    return gained;
}

ResultTable table_of_entropies(const std::vector<Heat>& heats, bool slip) {
    ResultTable table({"T", "energy U", "entropy S", "free energy U - T S", "U - S", "S(T) - S(1), measured", "exact"});
    const auto row = [&](const std::string& name, double T, const Cell& measured, const Cell& gained) {
        const Exact known = exact(T);
        const double S = known.entropy(T);
        table.row({name, {known.energy, 3}, {S, 3}, {known.free_energy, 3}, {known.energy - S, 3}, measured, gained});
    };
    row("1/2", 0.5, "", {exact(0.5).entropy(0.5) - exact(1).entropy(1), 3});
    for (std::size_t k = 0; k < heats.size(); ++k) {
        const double T = heats[k].T, gained = exact(T).entropy(T) - exact(1).entropy(1);
        if (k == 0) {
            row(std::to_string(std::lround(T)), T, "", {gained, 3});
            continue;
        }
        // The jackknife over the chains, which are independent.
        const std::int64_t chains = heats[k].energies.shape()[0];
        const double all = entropy_gained(heats, k, -1, slip), n = static_cast<double>(chains);
        double mean = 0, squares = 0;
        std::vector<double> left;
        for (std::int64_t c = 0; c < chains; ++c) {
            left.push_back(entropy_gained(heats, k, c, slip));
            mean += left.back() / n;
        }
        for (const double x : left) squares += (x - mean) * (x - mean);
        row(std::to_string(std::lround(T)), T, {all, std::sqrt(squares * (n - 1) / n), 3}, {gained, 3});
    }
    return table;
}

void draw_entropies(Panel& balance, Panel& lowest) {
    std::vector<double> T, U, TS, F;
    for (int k = -4; k <= 16; ++k) {
        T.push_back(math::exp2(k / 4.0));
        const Exact known = exact(T.back());
        U.push_back(known.energy);
        F.push_back(known.free_energy);
        TS.push_back(known.energy - known.free_energy);
    }
    balance.line("energy U", T, U);
    balance.line("T S", T, TS);
    balance.line("free energy F = U - T S", T, F);
    balance.set("set logscale x 2");
    balance.set("set xrange [0.5:16]");
    for (const double own : {1.0, 4.0}) {
        const double least = exact(own).free_energy;
        std::vector<double> above;
        for (std::size_t k = 0; k < T.size(); ++k) above.push_back((U[k] - own * TS[k] / T[k] - least) / own);
        lowest.line("at T = " + std::to_string(std::lround(own)), T, above);
    }
    lowest.set("set logscale x 2");
    lowest.set("set xrange [0.5:16]");
    lowest.set("set yrange [0:20]");
}
