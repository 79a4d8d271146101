#include <pollen/nn/pruning/prune.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/checks.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

namespace pollen {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <Real T>
void check(const WeightPosterior<T>& weights) {
    if (weights.mean.shape() != weights.sd.shape())
        throw ShapeError("prune: " + weights.name + ": the means have shape " + to_string(weights.mean.shape()) +
                         ", the standard deviations " + to_string(weights.sd.shape()));
    for (std::int64_t i = 0; i < weights.mean.size(); ++i) {
        const auto mean = static_cast<double>(weights.mean.data()[i]), sd = static_cast<double>(weights.sd.data()[i]);
        if (!std::isfinite(mean) || !(sd >= 0 && sd < infinity))
            throw ValueError("prune: " + weights.name + ": weight " + std::to_string(i) + " has mean " + to_text(mean) +
                             " and standard deviation " + to_text(sd) +
                             "; both must be finite, and the latter at least 0");
    }
}

template <Real T>
void check_spread(const WeightPosterior<T>& weights, Criterion by) {
    if (std::find(weights.sd.begin(), weights.sd.end(), T(0)) != weights.sd.end())
        throw ValueError("prune: " + weights.name + " has sd 0; " +
                         (by == Criterion::signal_to_noise ? "signal-to-noise" : "KL") + " needs a spread");
}

// 10 log10(|mu| / sigma)
double decibels(double mean, double sd) {
    return mean == 0 ? -infinity : 10 * (math::log10(std::abs(mean)) - math::log10(sd));
}

double kl(double mean, double sd, double prior) {
    const double a = sd / prior, b = mean / prior;
    return -math::log(a) + (a * a + b * b) / 2 - 0.5;
}

template <Real T>
bool considered(const WeightPosterior<T>& weights, bool biases) {
    return biases || weights.mean.rank() >= 2;
}

void check(const PruneOptions& o) {
    if (o.fraction.has_value() == o.threshold.has_value())
        throw ValueError("prune: give either a fraction or a threshold");
    if (o.fraction && !(*o.fraction >= 0 && *o.fraction <= 1))
        throw ValueError("prune: fraction is " + to_text(*o.fraction) + "; it must be from 0 to 1");
    if (o.threshold && std::isnan(*o.threshold)) throw ValueError("prune: threshold is nan");
    if (!(o.prior_sd > 0 && o.prior_sd < infinity))
        throw ValueError("prune: prior_sd is " + to_text(o.prior_sd) + "; it must be greater than 0");
}

// Which of the weights stay, given what each is worth.
std::vector<bool> kept(const std::vector<double>& worth, const PruneOptions& o) {
    std::vector<bool> keep(worth.size(), true);
    if (o.threshold) {
        for (std::size_t i = 0; i < worth.size(); ++i) keep[i] = worth[i] >= *o.threshold;
        return keep;
    }
    const auto gone = static_cast<std::ptrdiff_t>(std::llround(*o.fraction * static_cast<double>(worth.size())));
    std::vector<std::size_t> order(worth.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::nth_element(order.begin(), order.begin() + gone, order.end(),
                     [&](std::size_t a, std::size_t b) { return worth[a] != worth[b] ? worth[a] < worth[b] : a < b; });
    for (std::ptrdiff_t i = 0; i < gone; ++i) keep[order[static_cast<std::size_t>(i)]] = false;
    return keep;
}

template <Real T>
PrunedTensor<T> masked(const WeightPosterior<T>& weights, const std::vector<double>& worth,
                       const std::vector<bool>& keep, std::size_t first) {
    PrunedTensor<T> out{weights.name, weights.mean, Tensor<T>::ones(weights.mean.shape()), 0, infinity, true};
    T *mean = out.mean.mutable_data(), *mask = out.mask.mutable_data();
    for (std::size_t i = 0; i < static_cast<std::size_t>(weights.mean.size()); ++i) {
        if (keep[first + i]) {
            ++out.left;
            out.threshold = std::min(out.threshold, worth[first + i]);
        } else {
            mean[i] = mask[i] = T(0);
        }
    }
    return out;
}

}  // namespace

template <Real T>
std::vector<PrunedTensor<T>> prune(const std::vector<WeightPosterior<T>>& posterior, const PruneOptions& options) {
    check(options);
    if (posterior.empty())
        throw ValueError("prune: there are no weights with a posterior; bayesian(net) makes a network that has them");
    std::vector<PrunedTensor<T>> pruned;
    std::vector<double> worth;
    std::vector<std::pair<std::size_t, std::size_t>> first;  // the tensors that are considered, and where they begin
    const auto cut = [&] {
        const std::vector<bool> keep = kept(worth, options);
        for (const auto& [k, begin] : first) pruned[k] = masked(posterior[k], worth, keep, begin);
        worth.clear();
        first.clear();
    };
    for (std::size_t k = 0; k < posterior.size(); ++k) {
        const WeightPosterior<T>& weights = posterior[k];
        check(weights);
        pruned.push_back(
            {weights.name, weights.mean, Tensor<T>::ones(weights.mean.shape()), weights.mean.size(), -infinity, false});
        if (!considered(weights, options.biases)) continue;
        check_spread(weights, options.by);
        first.emplace_back(k, worth.size());
        for (std::int64_t i = 0; i < weights.mean.size(); ++i) {
            const auto mean = static_cast<double>(weights.mean.data()[i]);
            const auto sd = static_cast<double>(weights.sd.data()[i]);
            worth.push_back(options.by == Criterion::signal_to_noise ? decibels(mean, sd)
                                                                     : kl(mean, sd, options.prior_sd));
        }
        if (options.scope == Scope::each_layer) cut();
    }
    cut();
    return pruned;
}

template <Real T>
std::string report(const std::vector<PrunedTensor<T>>& pruned) {
    std::string text;
    char line[200];
    for (const PrunedTensor<T>& tensor : pruned) {
        const double share =
            tensor.mask.size() ? 100.0 * static_cast<double>(tensor.left) / static_cast<double>(tensor.mask.size()) : 0;
        std::snprintf(line, sizeof line, "  %lld of %lld left (%.2f %%)", static_cast<long long>(tensor.left),
                      static_cast<long long>(tensor.mask.size()), share);
        text += tensor.name + line;
        std::snprintf(line, sizeof line, ", at least %.3g", tensor.threshold);
        text += tensor.pruned ? (tensor.left ? line : "") : ", not pruned";
        text += "\n";
    }
    return text;
}

template <Real T>
std::vector<double> signal_to_noise(const std::vector<WeightPosterior<T>>& posterior, bool biases) {
    std::vector<double> values;
    for (const WeightPosterior<T>& weights : posterior) {
        check(weights);
        if (!considered(weights, biases)) continue;
        check_spread(weights, Criterion::signal_to_noise);
        for (std::int64_t i = 0; i < weights.mean.size(); ++i)
            values.push_back(
                decibels(static_cast<double>(weights.mean.data()[i]), static_cast<double>(weights.sd.data()[i])));
    }
    return values;
}

#define POLLEN_INSTANTIATE(T)                                                                                 \
    template std::vector<PrunedTensor<T>> prune(const std::vector<WeightPosterior<T>>&, const PruneOptions&); \
    template std::string report(const std::vector<PrunedTensor<T>>&);                                         \
    template std::vector<double> signal_to_noise(const std::vector<WeightPosterior<T>>&, bool);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
