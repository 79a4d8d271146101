#include "grid.hpp"

#include <pollen/autograd/math.hpp>

#include <algorithm>
#include <functional>

Grid::Grid(pollen::Potential<double>& potential, double cell) {
    for (double at = -2.5 + cell / 2; at < 3.5; at += cell) x.push_back(at);
    for (double at = -5 + cell / 2; at < 5; at += cell) y.push_back(at);
    for (const double theta2 : y)
        for (const double theta1 : x) {
            const std::array<double, 2> theta{theta1, theta2};
            // 198 is near the least U, and keeps exp in range.
            density.push_back(pollen::math::exp(198 - potential.evaluate(theta, {}).total()));
            sums.add(theta1, theta2, density.back());
        }
}

double Grid::level(double share) const {
    std::vector<double> falling = density;
    std::ranges::sort(falling, std::greater());
    double inside = 0;
    std::size_t k = 0;
    while (inside < share * sums.total()) inside += falling[k++];
    return falling[k];
}
