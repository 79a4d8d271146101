#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pollen {

// The posterior of one tensor of weights, each normal and independent of the others.
template <Real T>
struct WeightPosterior {
    std::string name;
    Tensor<T> mean, sd;
};

// What a weight is worth.
enum class Criterion {
    signal_to_noise,  // 10 log10(|mean| / sd), in decibels (Graves 2011; Blundell et al. 2015)
    kl_change         // how many nats of KL[q||p] its removal saves, against a normal prior; see prune()
};
enum class Scope { whole_net, each_layer };

struct PruneOptions {
    // One of the two: the share of the weights to remove, or the worth, in decibels or nats, below which they go.
    std::optional<double> fraction = {};
    std::optional<double> threshold = {};
    Scope scope = Scope::whole_net;  // what `fraction` is a share of
    Criterion by = Criterion::signal_to_noise;
    double prior_sd = 1;  // for kl_change
    bool biases = false;  // tensors with fewer than two axes are left alone unless this is set
};

// A tensor after pruning: means with zeros where a weight was removed, and what became of it.
template <Real T>
struct PrunedTensor {
    std::string name;
    Tensor<T> mean;
    Tensor<T> mask;       // 1 where a weight is left, 0 where it was removed
    std::int64_t left;    // how many are left
    double threshold;     // worth of the least that is left; infinite if none is
    bool pruned = false;  // whether it was considered at all
};

// Removes the weights that are worth least. With `fraction`, exactly that share goes, rounded to a whole number; of
// equal weights the first go first.
//
// By signal-to-noise: a weight with mean m and standard deviation s has density q(0) / q(m) = exp(-m^2 / (2 s^2)) at
// zero, relative to its most probable value, so that the weights that go are those for which zero is most credible.
//
// By the change of KL: a weight that is replaced by its prior N(0, p^2) carries nothing from the data, and
//     KL_i = log(p / s) + (s^2 + m^2) / (2 p^2) - 1/2
// nats of the objective are saved; the weights with the least KL_i go.
template <Real T>
std::vector<PrunedTensor<T>> prune(const std::vector<WeightPosterior<T>>& posterior, const PruneOptions& options);

// A table of what was left of each tensor.
template <Real T>
std::string report(const std::vector<PrunedTensor<T>>& pruned);

// 10 log10(|mean| / sd) of all weights, in their order. Means of zero give -infinity.
template <Real T>
std::vector<double> signal_to_noise(const std::vector<WeightPosterior<T>>& posterior, bool biases = false);

// How often numbers fall into bins of equal width; the last bin has both its ends.
struct Histogram {
    std::vector<double> edges;  // one more than bins
    std::vector<std::int64_t> counts;
    std::int64_t below = 0, above = 0;  // outside all bins

    std::int64_t total() const;
    std::vector<double> density() const;     // of each bin; its integral is the share inside the bins
    std::vector<double> cumulative() const;  // at each edge: the share of the numbers below it
};

Histogram histogram(const std::vector<double>& values, double low, double high, std::int64_t bins);
// From the least to the greatest finite value.
Histogram histogram(const std::vector<double>& values, std::int64_t bins = 100);

}  // namespace pollen
