#include <pollen/samplers/diagnostics/detail/rhat.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace detail {

// B = n Var(chain means), W = mean of the chain variances:      R-hat = sqrt((B / W + n - 1) / n)
double rhat(const ChainBlock& x) {
    if (x.draws < 2 || x.chains < 2 || degenerate(x.values)) return nothing;
    std::vector<double> means, variances;
    for (std::size_t c = 0; c < x.chains; ++c) {
        means.push_back(mean(x.chain(c)));
        variances.push_back(variance(x.chain(c)));
    }
    const auto n = static_cast<double>(x.draws);
    return std::sqrt((n * variance(means) / mean(variances) + n - 1) / n);
}

double ranked_rhat(ChainBlock& x, std::vector<PlacedDraw>& order, double median) {
    normalise_ranks(order, x.values);
    const double bulk = rhat(x);
    if (!std::isfinite(median) || std::isnan(bulk)) return nothing;
    ChainBlock folded = x;
    fold(order, median);
    normalise_ranks(order, folded.values);
    const double tail = rhat(folded);
    return std::isnan(tail) ? nothing : std::max(bulk, tail);
}

}  // namespace detail

double rhat(const Chains& x) {
    const std::vector<double> values = x.flatten();
    if (detail::any_nan(values)) return detail::nothing;
    detail::ChainBlock split = detail::split_chains(values, static_cast<std::size_t>(x.chains()));
    std::vector<detail::PlacedDraw> order = detail::ascending(split.values);
    return detail::ranked_rhat(split, order, detail::median_of_sorted(detail::sorted(values)));
}

double rhat_basic(const Chains& x, bool split) {
    std::vector<double> values = x.flatten();
    const auto chains = static_cast<std::size_t>(x.chains());
    if (split) return detail::rhat(detail::split_chains(values, chains));
    return detail::rhat({chains, static_cast<std::size_t>(x.draws()), std::move(values)});
}

}  // namespace pollen
