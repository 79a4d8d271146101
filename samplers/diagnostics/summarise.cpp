#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/diagnostics/detail/ess.hpp>
#include <pollen/samplers/diagnostics/detail/rhat.hpp>
#include <pollen/samplers/diagnostics/summary.hpp>
#include <pollen/samplers/diagnostics/weighted.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

using namespace detail;

// The draws are sorted once for all that needs their order, and the tables of the transform are made once for all
// chains.
QuantitySummary summarise_values(std::span<const double> values, std::size_t chains, MeanAutocovariance& acov) {
    QuantitySummary s;
    s.mean = mean(values);
    s.sd = std::sqrt(variance(values));
    s.not_finite = std::count_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); });
    s.mcse = s.q5 = s.q50 = s.q95 = s.ess_bulk = s.ess_tail = s.rhat = nothing;
    if (any_nan(values)) return s;

    ChainBlock x = split_chains(values, chains);
    std::vector<PlacedDraw> order = ascending(x.values);
    std::vector<double> sorted_values;
    if (x.values.size() == values.size()) {
        for (const PlacedDraw& draw : order) sorted_values.push_back(draw.value);
    } else {
        sorted_values = sorted(values);  // draws were left out of x
    }
    s.q5 = quantile_of_sorted(sorted_values, 0.05);
    s.q50 = quantile_of_sorted(sorted_values, 0.5);
    s.q95 = quantile_of_sorted(sorted_values, 0.95);
    s.constant = sorted_values.front() == sorted_values.back();
    s.mcse = s.sd / std::sqrt(ess(x, acov));
    if (!degenerate(values)) {
        const double low = ess_quantile(values, chains, s.q5, acov), high = ess_quantile(values, chains, s.q95, acov);
        s.ess_tail = std::isnan(low) || std::isnan(high) ? nothing : std::min(low, high);
    }
    s.rhat = ranked_rhat(x, order, median_of_sorted(sorted_values));
    s.ess_bulk = ess(x, acov);
    return s;
}

// Draws of unequal weights: the place of the posterior by weighted draws, what they are worth by their ESS.
void weigh(QuantitySummary& s, std::span<const double> values, std::span<const double> weights) {
    WeightedMoments moments(1);
    for (std::size_t i = 0; i < values.size(); ++i) moments.add(values.subspan(i, 1), weights[i]);
    const double share = moments.draws() / static_cast<double>(values.size());
    const double sd = std::sqrt(moments.variance()[0]);
    s.mcse *= sd / s.sd / std::sqrt(share);
    s.mean = moments.mean[0];
    s.sd = sd;
    s.ess_bulk *= share;
    s.ess_tail *= share;
    s.q5 = weighted_quantile(values, weights, 0.05);
    s.q50 = weighted_quantile(values, weights, 0.5);
    s.q95 = weighted_quantile(values, weights, 0.95);
}

std::size_t half(std::size_t draws) { return draws == 1 ? 1 : draws / 2; }

}  // namespace

QuantitySummary summarise(const Chains& x) {
    MeanAutocovariance acov(half(static_cast<std::size_t>(x.draws())));
    return summarise_values(x.flatten(), static_cast<std::size_t>(x.chains()), acov);
}

template <Real T>
std::vector<QuantitySummary> summarise(const Tensor<T>& draws, std::span<const double> weights) {
    if (draws.rank() != 3)
        throw ShapeError("summarise: draws are " + to_string(draws.shape()) +
                         "; (chains, draws, quantities) is expected" +
                         (draws.rank() == 2 ? ", or one quantity as Chains: summarise(Chains(x))" : ""));
    if (draws.shape()[0] * draws.shape()[1] == 0)
        throw ShapeError("summarise: draws are " + to_string(draws.shape()) +
                         "; at least one chain of one draw is needed");
    if (!weights.empty() && std::ssize(weights) != draws.shape()[0] * draws.shape()[1])
        throw ShapeError("summarise: " + std::to_string(weights.size()) + " weights for draws " +
                         to_string(draws.shape()) + "; each draw needs one");
    const auto chains = static_cast<std::size_t>(draws.shape()[0]), length = static_cast<std::size_t>(draws.shape()[1]);
    const auto quantities = static_cast<std::size_t>(draws.shape()[2]);
    std::vector<QuantitySummary> all(quantities);
    parallel_for(std::ssize(all), 4, [&](std::int64_t begin, std::int64_t end) {
        MeanAutocovariance acov(half(length));
        std::vector<double> values(chains * length);
        for (auto k = static_cast<std::size_t>(begin); k < static_cast<std::size_t>(end); ++k) {
            for (std::size_t i = 0; i < values.size(); ++i)
                values[i] = static_cast<double>(draws.data()[i * quantities + k]);
            all[k] = summarise_values(values, chains, acov);
            if (!weights.empty()) weigh(all[k], values, weights);
        }
    });
    return all;
}

template std::vector<QuantitySummary> summarise(const Tensor<float>&, std::span<const double>);
template std::vector<QuantitySummary> summarise(const Tensor<double>&, std::span<const double>);

}  // namespace pollen
