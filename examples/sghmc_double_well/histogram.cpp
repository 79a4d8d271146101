#include "histogram.hpp"

#include <pollen/autograd/math.hpp>

#include <cmath>
#include <numbers>
#include <numeric>

using namespace pollen;

constexpr int cells = 50;
constexpr double low = -2.5, high = 2.5, width = (high - low) / cells;

BinnedDraws histogram(const Tensor<double>& draws) { return {{draws.begin(), draws.end()}, low, high, cells}; }

Exact::Exact(Potential<double>& potential) {
    constexpr int parts = 20;
    for (int k = 0; k < cells * parts; ++k) {
        x.push_back(low + (k + 0.5) * width / parts);
        weight.push_back(math::exp(-potential.evaluate({&x.back(), 1}, {}).total()));
    }
    const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
    for (std::size_t k = 0; k < x.size(); ++k) mean_square += x[k] * x[k] * weight[k] / total;
}

BinnedDraws Exact::histogram() const { return {x, low, high, cells, weight}; }

double total_variation(const BinnedDraws& p, const BinnedDraws& q) {
    double difference = 0, outside = 0;
    for (std::size_t k = 0; k < cells; ++k) {
        difference += std::abs(p.density[k] - q.density[k]) * width;
        outside += (p.density[k] - q.density[k]) * width;
    }
    return (difference + std::abs(outside)) / 2;
}

double expected_variation(const BinnedDraws& exact, double n) {
    double sum = 0;
    for (const double density : exact.density)
        sum += std::sqrt(density * width * (1 - density * width) / (2 * std::numbers::pi * n));
    return sum;
}
