#include <pollen/samplers/diagnostics/detail/ess.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

// sd / sqrt(ess)
double mcse_mean(const Chains& x) { return std::sqrt(detail::variance(x.flatten())) / std::sqrt(ess_mean(x)); }

// By the delta method: Var(sd) = Var(s^2) / (4 s^2), Var(s^2) = (E d^4 - (E d^2)^2) / ess(d^2), d = x - mean.
double mcse_sd(const Chains& x) {
    std::vector<double> squares = x.flatten();
    const double centre = detail::mean(squares);
    for (double& v : squares) v = (v - centre) * (v - centre);
    const double ess = detail::ess_split(squares, x.chains()), second = detail::mean(squares);
    for (double& v : squares) v *= v;
    return std::sqrt((detail::mean(squares) - second * second) / ess / second / 4);
}

double mcse_median(const Chains& x) { return mcse_quantile(x, 0.5); }

// The share of draws below the quantile is near Beta(ess p + 1, ess (1 - p) + 1); half the distance between the order
// statistics one standard deviation down and up.
double mcse_quantile(const Chains& x, double p) {
    detail::check_probability("mcse_quantile", p);
    const double ess = ess_quantile(x, p);
    if (std::isnan(ess)) return detail::nothing;
    const std::vector<double> sorted = detail::sorted(x.flatten());
    const auto n = static_cast<double>(sorted.size());
    const double low = detail::beta_quantile(0.1586553, ess * p + 1, ess * (1 - p) + 1);
    const double high = detail::beta_quantile(0.8413447, ess * p + 1, ess * (1 - p) + 1);
    const auto first = static_cast<std::size_t>(std::max(std::floor(low * n), 1.0));
    const auto last = static_cast<std::size_t>(std::min(std::ceil(high * n), n));
    return (sorted[last - 1] - sorted[first - 1]) / 2;
}

}  // namespace pollen
