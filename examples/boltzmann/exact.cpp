#include "exact.hpp"

#include "network.hpp"

#include <pollen/autograd/math.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

Valley::Valley(double w1, double w2) {
    double h11 = 1 / (prior_sd * prior_sd), h22 = h11, h12 = 0, g1 = 0, g2 = 0, yy = 0;
    for (std::int64_t i = 0; i < data.x.size(); ++i) {
        const double p = pollen::math::tanh(w1 * data.x(i)) / sigma, q = pollen::math::tanh(w2 * data.x(i)) / sigma;
        const double y = data.y(i) / sigma;
        h11 += p * p;
        h12 += p * q;
        h22 += q * q;
        g1 += p * y;
        g2 += q * y;
        yy += y * y;
    }
    determinant = h11 * h22 - h12 * h12;
    const double v1 = (h22 * g1 - h12 * g2) / determinant, v2 = (h11 * g2 - h12 * g1) / determinant;
    lowest = (yy + (w1 * w1 + w2 * w2) / (prior_sd * prior_sd) - g1 * v1 - g2 * v2) / 2;
    f = v1 * pollen::math::tanh(w1 * probe) + v2 * pollen::math::tanh(w2 * probe);
}

double Valley::log_weight(double T) const { return -lowest / T - pollen::math::log(determinant) / 2; }

// Cells of a quarter of the plane, the others being its images. They grow with w = 0.1 sinh(u), and have this width of
// u.
constexpr int cells = 100;
static double width_of_cells(double T) {
    const double most = 140 * std::sqrt(T);
    return pollen::math::log(most + std::sqrt(most * most + 1)) / cells;
}

// Calls use(valley, weight) on all cells. Weights are those of exp(-E / T), not normalised.
static void each_valley(double T, const std::function<void(const Valley&, double)>& use) {
    const double width = width_of_cells(T);
    for (int i = 0; i < cells; ++i)
        for (int j = 0; j < cells; ++j) {
            const double u1 = (i + 0.5) * width, u2 = (j + 0.5) * width;
            const Valley valley(0.1 * pollen::math::sinh(u1), 0.1 * pollen::math::sinh(u2));
            use(valley,
                pollen::math::exp(valley.log_weight(T) + 12 / T) * pollen::math::cosh(u1) * pollen::math::cosh(u2));
        }
}

// Given w, E - lowest is exponential with mean and standard deviation T: it is quadratic in two numbers.
Exact exact(double T) {
    double z = 0, e = 0, ee = 0, f = 0, lowest = 1e9;
    each_valley(T, [&](const Valley& valley, double p) {
        const double mean = valley.lowest + T;
        z += p;
        e += p * mean;
        ee += p * (mean * mean + T * T);
        f += p * valley.f;
        lowest = std::min(lowest, valley.lowest);
    });
    // Four quarters; dw = 0.1 cosh(u) du; the integral over v is 2 pi T / sqrt(det H); and exp(12 / T) is taken back.
    const double width = width_of_cells(T), cell = 4 * 0.01 * width * width;
    const double log_z = pollen::math::log(z * cell * 2 * std::numbers::pi * T) - 12 / T;
    return {e / z, (ee / z - e / z * e / z) / (T * T), f / z, lowest, -T * log_z};
}

std::vector<double> energy_density(double T, const std::vector<double>& energies) {
    std::vector<double> density(energies.size());
    double z = 0;
    each_valley(T, [&](const Valley& valley, double p) {
        z += p;
        for (std::size_t k = 0; k < energies.size(); ++k)
            if (energies[k] > valley.lowest) density[k] += p * pollen::math::exp((valley.lowest - energies[k]) / T) / T;
    });
    for (double& d : density) d /= z;
    return density;
}
