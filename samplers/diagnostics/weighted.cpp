#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/diagnostics/detail/draws_math.hpp>
#include <pollen/samplers/diagnostics/weighted.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace pollen {

WeightedMoments::WeightedMoments(std::int64_t dimensions) {
    if (dimensions < 1)
        throw ValueError("WeightedMoments: dimensions is " + std::to_string(dimensions) + "; at least 1 is needed");
    mean.resize(static_cast<std::size_t>(dimensions));
    squares.resize(static_cast<std::size_t>(dimensions));
}

// W += w,  delta = x - mean,  mean += w / W delta,  S += w delta (x - mean)
template <Real T>
void WeightedMoments::add(std::span<const T> values, double with_weight) {
    if (values.size() != mean.size())
        throw ShapeError("WeightedMoments: a draw of " + std::to_string(values.size()) + " numbers for " +
                         std::to_string(mean.size()) + " dimensions");
    check_weight("WeightedMoments", with_weight);
    if (with_weight == 0) return;
    weight += with_weight;
    squared_weights += with_weight * with_weight;
    const double share = with_weight / weight;
    for (std::size_t k = 0; k < mean.size(); ++k) {
        const double x = static_cast<double>(values[k]), delta = x - mean[k];
        mean[k] += share * delta;
        squares[k] += with_weight * delta * (x - mean[k]);
    }
}

double WeightedMoments::draws() const { return weight * weight / squared_weights; }

std::vector<double> WeightedMoments::variance() const {
    std::vector<double> variances = squares;
    for (double& v : variances) v /= weight;
    return variances;
}

double weighted_quantile(std::span<const double> values, std::span<const double> weights, double p) {
    detail::check_probability("weighted_quantile", p);
    if (values.empty()) throw ShapeError("weighted_quantile: there are no draws");
    if (values.size() != weights.size())
        throw ShapeError("weighted_quantile: " + std::to_string(values.size()) + " draws with " +
                         std::to_string(weights.size()) + " weights; each draw needs one");
    for (const double w : weights) check_weight("weighted_quantile", w);
    if (detail::any_nan(values)) return detail::nothing;
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
    double total = 0;
    for (const std::size_t i : order) total += weights[i];
    if (!(total > 0)) throw ValueError("weighted_quantile: all weights are 0");
    double below = 0;
    std::size_t last = order.front();
    for (const std::size_t i : order) {
        if (weights[i] == 0) continue;
        last = i;
        below += weights[i];
        if (below >= p * total) break;
    }
    return values[last];
}

template void WeightedMoments::add(std::span<const float>, double);
template void WeightedMoments::add(std::span<const double>, double);

}  // namespace pollen
