#pragma once

#include "../common/table.hpp"

#include <cmath>
#include <span>

// The mean of independent numbers, and its standard error.
struct Estimate {
    double mean = 0, error = 0;

    Estimate(double m, double e) : mean(m), error(e) {}
    explicit Estimate(std::span<const double> x) {
        const double n = static_cast<double>(x.size());
        double squares = 0;
        for (const double v : x) mean += v / n;
        for (const double v : x) squares += (v - mean) * (v - mean);
        error = std::sqrt(squares / (n - 1) / n);
    }
    Estimate operator/(double divisor) const { return {mean / divisor, error / divisor}; }
    Cell cell(int digits) const { return {mean, error, digits}; }
};
