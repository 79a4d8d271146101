#pragma once

#include "matrices.hpp"

#include <cstdint>
#include <functional>
#include <numbers>

// The laws that samplers with a fixed step have on a Gaussian with known gradient noise.
namespace pollen::test {

// The configurational temperature of a law: Tr(L S) / d.
inline double temperature_of(const Matrix& precision, const Matrix& covariance) {
    double trace = 0;
    for (std::size_t i = 0; i < precision.size(); ++i) trace += times(precision, covariance)[i][i];
    return trace / static_cast<double>(precision.size());
}

// S = M S M' + e T I + e^2 V / 4,  M = I - e L / 2
inline Matrix sgld_law(const Matrix& l, const Matrix& v, double e, double t) {
    return lyapunov(sum(matrix(l.size(), 1), l, -e / 2), sum(matrix(l.size(), e * t), v, e * e / 4));
}

// P = A P A' + Q of (x, v); the added noise is 2h a T - h^2 `taken_off`. Twice as many dimensions.
inline Matrix sghmc_law(const Matrix& l, const Matrix& v, double h, double a, double t, const Matrix& taken_off) {
    const std::size_t d = l.size();
    Matrix step = matrix(2 * d), q = matrix(2 * d);
    const Matrix noise = sum(sum(matrix(d, 2 * h * a * t), taken_off, -h * h), v, h * h);
    for (std::size_t i = 0; i < d; ++i)
        for (std::size_t j = 0; j < d; ++j) {
            step[i][j] = (i == j) - h * l[i][j];
            step[d + i][j] = -h * l[i][j];
            step[i][d + j] = step[d + i][d + j] = i == j ? 1 - a : 0;
            q[i][j] = q[d + i][j] = q[i][d + j] = q[d + i][d + j] = noise[i][j];
        }
    return lyapunov(step, q);
}
inline Matrix block(const Matrix& p, std::size_t first, std::size_t size) {
    Matrix b = matrix(size);
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j) b[i][j] = p[first + i][first + j];
    return b;
}
inline double trace(const Matrix& m) {
    double total = 0;
    for (std::size_t i = 0; i < m.size(); ++i) total += m[i][i];
    return total;
}

// E (x - m)^2 under the stationary law of a chain in one dimension with the transition density p(from, to) of x - m,
// and what is missing to 1 in its integral as the probability to stay: a power iteration on a grid, as exact as the
// trapezium rule is for densities that are smooth on its scale.
inline double stationary_variance(const std::function<double(double, double)>& density, double reach = 6) {
    constexpr std::size_t n = 401;
    const double step = 2 * reach / (n - 1);
    const auto at = [&](std::size_t k) { return -reach + step * static_cast<double>(k); };
    Matrix p = matrix(n);
    for (std::size_t i = 0; i < n; ++i) {
        double total = 0;
        for (std::size_t j = 0; j < n; ++j) total += p[j][i] = step * density(at(i), at(j));
        p[i][i] += 1 - total;
    }
    std::vector<double> law(n, 1.0 / n), next(n);
    double variance = 0, before = -1;
    for (int turn = 0; turn < 2000 && std::abs(variance - before) > 1e-9; ++turn) {
        before = variance;
        variance = 0;
        for (std::size_t j = 0; j < n; ++j) {
            next[j] = std::inner_product(p[j].begin(), p[j].end(), law.begin(), 0.0);
            variance += next[j] * at(j) * at(j);
        }
        std::swap(law, next);
    }
    return variance;
}
inline double normal_density(double x, double mean, double variance) {
    return std::exp(-(x - mean) * (x - mean) / (2 * variance)) / std::sqrt(2 * std::numbers::pi * variance);
}

}  // namespace pollen::test
