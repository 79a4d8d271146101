#include "moments.hpp"

#include <pollen/samplers/diagnostics/diagnostics.hpp>

#include <cmath>
#include <functional>

using namespace pollen;

void WeightedSums::add(double theta1, double theta2, double weight) {
    const std::array<double, 6> terms{1, theta1, theta1 * theta1, theta2, theta2 * theta2, theta2 > 0 ? 1.0 : 0.0};
    for (std::size_t k = 0; k < 6; ++k) s[k] += weight * terms[k];
}

Moments WeightedSums::moments() const {
    const double x = s[1] / s[0], y = s[3] / s[0];
    return {x, std::sqrt(s[2] / s[0] - x * x), y, std::sqrt(s[4] / s[0] - y * y), s[5] / s[0]};
}

// Of the chains that count.
static Moments moments_of(const Draws& draws, const std::function<bool(std::int64_t)>& counts) {
    const Tensor<double> theta1 = draws["theta1"], theta2 = draws["theta2"];
    const Tensor<double> weight = draws.statistic(&ChainRecord::weight);
    WeightedSums sums;
    for (std::int64_t c = 0; c < std::ssize(draws.chains); ++c)
        for (std::int64_t t = 0; counts(c) && t < draws.size(); ++t) sums.add(theta1(c, t), theta2(c, t), weight(c, t));
    return sums.moments();
}

Moments Run::without(std::int64_t chain) const {
    return moments_of(draws, [chain](std::int64_t c) { return c != chain; });
}

Moments Run::only(std::int64_t chain) const {
    return moments_of(draws, [chain](std::int64_t c) { return c == chain; });
}

Moments Run::errors() const {
    const Moments all = moments();
    const double n = static_cast<double>(chains());
    Moments squares{};
    for (std::int64_t c = 0; c < chains(); ++c) {
        const Moments some = without(c);
        for (std::size_t k = 0; k < 5; ++k) squares[k] += (n - 1) / n * (some[k] - all[k]) * (some[k] - all[k]);
    }
    for (double& s : squares) s = std::sqrt(s);
    return squares;
}

double Run::rhat() const {
    const std::vector<std::int64_t> counted = draws.counted();
    const Tensor<double> theta2 = draws["theta2"];
    Tensor<double> some = Tensor<double>::empty({chains(), std::ssize(counted)});
    for (std::int64_t c = 0; c < chains(); ++c)
        for (std::size_t t = 0; t < counted.size(); ++t)
            some.mutable_at(c, static_cast<std::int64_t>(t)) = theta2(c, counted[t]);
    return pollen::rhat(some);
}
