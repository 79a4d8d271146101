#pragma once

#include <pollen/samplers/adaptation/metric.hpp>
#include <pollen/samplers/chain.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pollen {

// Random-walk Metropolis (Metropolis et al. 1953), without gradients:
//
//     theta* = theta + s G^(1/2) z,  z ~ N(0, 1),    accepted with probability min(1, exp((U - U*) / T))
//
// The warm-up adapts s to the acceptance (Robbins & Monro 1951),  log s += k^-0.6 (a_k - target),  and G to the
// variances of the positions, or to their covariance if the metric is dense, in the windows of WindowSizes.
struct Metropolis {
    // s times the square root of the dimension; if a warm-up adapts it, the one that it begins with. 2.38 is best if
    // the target is a normal distribution with covariance G (Gelman, Roberts & Gilks, Efficient Metropolis jumping
    // rules, 1996).
    double step_size = 2.38;
    std::optional<double> target_acceptance = {};  // if not given: random_walk_target(dimensions)
    MetricKind metric = MetricKind::diagonal;
    std::vector<double> inverse_metric = {};  // G to begin with: a diagonal, or a matrix; empty: 1
    bool adapt = true;
    std::int64_t first = 75, window = 25, last = 50;  // see WindowSizes

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
    double state_bytes(std::int64_t size, std::size_t number) const;
};

}  // namespace pollen
