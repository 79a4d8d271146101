#include <pollen/autograd/math.hpp>
#include <pollen/samplers/diagnostics/detail/ess.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace detail {

// With W and var+ as for R-hat and acov_t the mean of the chains' autocovariances,
//
//     rho_t = 1 - (W - acov_t) / var+,    tau = -1 + 2 sum_t rho_t,    ess = chains * draws / tau.
//
// Geyer (1992): for a reversible chain the sums rho_2k + rho_2k+1 are positive and fall with k. They are added up until
// one is negative. A sum that is greater than the one before it is estimation noise, and is cut down to it. The last
// even term counts once if it is positive, which makes antithetic chains come out better. tau is at least 1 /
// log10(chains * draws).
double ess(const ChainBlock& x, MeanAutocovariance& autocovariance) {
    if (x.draws < 3 || degenerate(x.values)) return nothing;
    const std::span<const double> acov = autocovariance(x);
    const auto n = static_cast<double>(x.draws);
    const double within = acov[0] * n / (n - 1);
    double total_variance = within * (n - 1) / n;
    if (x.chains > 1) {
        std::vector<double> means;
        for (std::size_t c = 0; c < x.chains; ++c) means.push_back(mean(x.chain(c)));
        total_variance += variance(means);
    }
    const auto correlation = [&](std::size_t t) { return 1 - (within - acov[t]) / total_variance; };

    std::vector<double> rho(x.draws, 0.0);
    double even = 1, odd = correlation(1);
    rho[0] = even;
    rho[1] = odd;
    std::size_t last = 0;
    while (last + 5 < x.draws && even + odd > 0) {
        last += 2;
        even = correlation(last);
        odd = correlation(last + 1);
        if (even + odd < 0) continue;
        rho[last] = even;
        rho[last + 1] = odd;
    }
    if (even > 0) rho[last] = even;
    for (std::size_t t = 2; t + 2 <= last; t += 2) {
        const double before = rho[t - 2] + rho[t - 1];
        if (rho[t] + rho[t + 1] > before) rho[t] = rho[t + 1] = before / 2;
    }
    // Where the sum ends with its first pair, the first term stands for it.
    double sum = rho[0];
    for (std::size_t t = 1; t < last; ++t) sum += rho[t];
    const double size = static_cast<double>(x.chains) * n;
    const double tau = std::max(-1 + 2 * sum + rho[last], 1 / math::log10(size));
    return size / tau;
}

double ess_quantile(std::span<const double> values, std::size_t chains, double quantile,
                    MeanAutocovariance& autocovariance) {
    std::vector<double> below(values.begin(), values.end());
    for (double& v : below) v = v <= quantile ? 1 : 0;
    return ess(split_chains(below, chains), autocovariance);
}

double ess_split(std::span<const double> values, std::int64_t chains) {
    const ChainBlock x = split_chains(values, static_cast<std::size_t>(chains));
    MeanAutocovariance autocovariance(x.draws);
    return ess(x, autocovariance);
}

}  // namespace detail

double ess_bulk(const Chains& x) {
    detail::ChainBlock bulk = detail::split_chains(x.flatten(), static_cast<std::size_t>(x.chains()));
    if (detail::any_nan(bulk.values)) return detail::nothing;
    detail::normalise_ranks(detail::ascending(bulk.values), bulk.values);
    detail::MeanAutocovariance autocovariance(bulk.draws);
    return detail::ess(bulk, autocovariance);
}

double ess_tail(const Chains& x) {
    const double low = ess_quantile(x, 0.05), high = ess_quantile(x, 0.95);
    return std::isnan(low) || std::isnan(high) ? detail::nothing : std::min(low, high);
}

double ess_mean(const Chains& x) { return detail::ess_split(x.flatten(), x.chains()); }

double ess_sd(const Chains& x) {
    std::vector<double> values = x.flatten();
    const double centre = detail::mean(values);
    for (double& v : values) v = std::abs(v - centre);
    return detail::ess_split(values, x.chains());
}

double ess_median(const Chains& x) { return ess_quantile(x, 0.5); }

double ess_quantile(const Chains& x, double p) {
    detail::check_probability("ess_quantile", p);
    const std::vector<double> values = x.flatten();
    if (detail::degenerate(values)) return detail::nothing;
    // All draws are at or below the greatest one, so its quantile has no ESS; one just below it is used.
    const auto n = static_cast<double>(values.size());
    const double q = detail::quantile_of_sorted(detail::sorted(values), p == 1 ? (n - 0.5) / n : p);
    const auto draws = static_cast<std::size_t>(x.draws());
    detail::MeanAutocovariance autocovariance(draws == 1 ? 1 : draws / 2);
    return detail::ess_quantile(values, static_cast<std::size_t>(x.chains()), q, autocovariance);
}

}  // namespace pollen
