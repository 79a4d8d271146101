#pragma once

#include "full_batch_checks.hpp"

#include <pollen/samplers/run/run_chains.hpp>

#include <numeric>

// Draws against known moments: they pass if R-hat < 1.01, both ESS of the summary are great enough, and mean and second
// moment of every number lie within 4 standard errors of what is known. Of a sampler that is right, one z-score in
// 16,000 is beyond 4.
namespace pollen::test {

// E x and E x^2 of one number of a draw. Moments that come from draws themselves have a standard error, of so many
// standard deviations of x and of x^2; exact ones have none.
struct KnownMoments {
    std::string name;
    double mean, square;
    double error = 0;
};

struct Verdict {
    double rhat = 0;
    double ess = std::numeric_limits<double>::infinity();
    std::vector<double> z;  // of the mean and the second moment of one number after the other
    std::string worst_rhat, worst_ess, worst_z;

    double greatest_z() const {
        return std::accumulate(z.begin(), z.end(), 0.0, [](double a, double b) { return std::max(a, std::abs(b)); });
    }
    bool converged(double least_ess) const { return rhat < 1.01 && ess > least_ess; }
    bool passes(double least_ess) const { return converged(least_ess) && greatest_z() < 4; }
    std::string text() const {
        return "R-hat " + std::to_string(rhat) + " (" + worst_rhat + "), ESS " + std::to_string(ess) + " (" +
               worst_ess + "), greatest z " + std::to_string(greatest_z()) + " (" + worst_z + ")";
    }
};

// One number of all chains of all runs, a vector a chain.
inline std::vector<std::vector<double>> chains_of(std::span<const pollen::Draws> runs, const std::string& name) {
    std::vector<std::vector<double>> chains;
    for (const pollen::Draws& run : runs) {
        const Tensor<double> x = run[name];
        for (std::int64_t c = 0; c < x.shape()[0]; ++c)
            chains.emplace_back(x.data() + c * x.shape()[1], x.data() + (c + 1) * x.shape()[1]);
    }
    return chains;
}

inline double mean_of(const std::vector<std::vector<double>>& chains) {
    double sum = 0, n = 0;
    for (const auto& chain : chains)
        for (const double x : chain) sum += x, n += 1;
    return sum / n;
}

// (mean - expected) / standard error, in which the Monte Carlo error and that of what is expected come together.
inline double z_score(const std::vector<std::vector<double>>& x, double expected, double error) {
    const double mean = mean_of(x);
    double variance = 0, n = 0;
    for (const auto& chain : x)
        for (const double value : chain) variance += (value - mean) * (value - mean), n += 1;
    return (mean - expected) / std::hypot(mcse_mean(x), error * std::sqrt(variance / n));
}

inline std::vector<std::vector<double>> squares(std::vector<std::vector<double>> chains) {
    for (auto& chain : chains)
        for (double& x : chain) x *= x;
    return chains;
}

// All chains of the runs together. What is NaN counts as infinitely bad.
inline Verdict judge(std::span<const pollen::Draws> runs, std::span<const KnownMoments> known) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Verdict v;
    for (const KnownMoments& k : known) {
        const auto x = chains_of(runs, k.name);
        const double r = rhat(x), bulk = ess_bulk(x), tail = ess_tail(x);
        const double ess = std::isnan(bulk) || std::isnan(tail) ? 0 : std::min(bulk, tail);
        if (!(r <= v.rhat)) v.rhat = std::isnan(r) ? infinity : r, v.worst_rhat = k.name;
        if (ess < v.ess) v.ess = ess, v.worst_ess = k.name;
        for (double z : {z_score(x, k.mean, k.error), z_score(squares(x), k.square, k.error)}) {
            if (std::isnan(z)) z = infinity;
            if (!(std::abs(z) <= v.greatest_z())) v.worst_z = k.name;
            v.z.push_back(z);
        }
    }
    return v;
}
inline Verdict judge(const pollen::Draws& run, std::span<const KnownMoments> known) {
    return judge(std::span(&run, 1), known);
}

}  // namespace pollen::test
