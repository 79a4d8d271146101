#pragma once

#include "moments_rule.hpp"

#include <algorithm>

// Whether the z-scores of several runs of one sampler, which differ in their seeds alone, look standard normal.
//
// The scores of one run are correlated, since parameters are, and x and x^2 are. The correlations R of the Monte Carlo
// errors are estimated from the means of ten stretches of every chain. Scores of different runs have the error of the
// known moments in common. With both, scores of a sampler that is right can be drawn, as often as one likes:
//
//     z_run = sqrt(1 - c) u_run + sqrt(c) v,    u_run, v ~ N(0, R),    c = error^2 / (MCSE^2 + error^2)
//
// and what is seen is compared with those, by three numbers: the distance of Kolmogorov and Smirnov from N(0, 1) of all
// scores together, the mean of their squares, and the greatest of them.
namespace pollen::test {

struct PooledScores {
    double distance = 0, mean_square = 0, greatest = 0;
    double p_distance = 0;     // of one as great
    double p_mean_square = 0;  // of one as far out, in its direction, times 2
    double p_greatest = 0;     // of one as great
};

inline double distance_from_normal(std::vector<double> z) {
    std::sort(z.begin(), z.end());
    const auto n = static_cast<double>(z.size());
    double d = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
        const double law = std::erfc(-z[i] / std::numbers::sqrt2) / 2, at = static_cast<double>(i);
        d = std::max({d, law - at / n, (at + 1) / n - law});
    }
    return d;
}

inline double mean_square(const std::vector<double>& z) {
    return std::inner_product(z.begin(), z.end(), z.begin(), 0.0) / static_cast<double>(z.size());
}

inline double greatest_size(const std::vector<double>& z) {
    double greatest = 0;
    for (const double x : z) greatest = std::max(greatest, std::abs(x));
    return greatest;
}

// The means of ten stretches of each chain, less the mean of all, scaled to a mean square of 1.
inline std::vector<double> stretches(const std::vector<std::vector<double>>& chains) {
    constexpr std::size_t parts = 10;
    std::vector<double> means;
    for (const auto& chain : chains)
        for (std::size_t p = 0; p < parts; ++p) {
            const auto from = chain.begin() + static_cast<std::ptrdiff_t>(p * chain.size() / parts);
            const auto to = chain.begin() + static_cast<std::ptrdiff_t>((p + 1) * chain.size() / parts);
            means.push_back(std::accumulate(from, to, 0.0) / static_cast<double>(to - from));
        }
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(means.size());
    for (double& m : means) m -= mean;
    const double scale = std::sqrt(mean_square(means));
    for (double& m : means) m /= scale;
    return means;
}

// L with L L' = R. R may be singular: what rounding leaves of a pivot then counts as 0.
inline std::vector<std::vector<double>> factor(const std::vector<std::vector<double>>& r) {
    const std::size_t n = r.size();
    std::vector<std::vector<double>> l(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = r[i][j];
            for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? (sum > 1e-9 ? std::sqrt(sum) : 0) : l[j][j] > 0 ? sum / l[j][j] : 0;
        }
    return l;
}

// `verdicts` are those of the runs one by one.
inline PooledScores pool(std::span<const pollen::Draws> runs, std::span<const KnownMoments> known,
                         std::span<const Verdict> verdicts) {
    std::vector<std::vector<double>> errors;
    std::vector<double> shared;  // c
    for (const KnownMoments& k : known) {
        const auto x = chains_of(runs, k.name);
        for (const auto& f : {x, squares(x)}) {
            errors.push_back(stretches(f));
            const double own = static_cast<double>(runs.size()) / ess_mean(f);  // MCSE^2 of one run, over the variance
            shared.push_back(k.error * k.error / (k.error * k.error + own));
        }
    }
    const std::size_t n = errors.size();
    std::vector<std::vector<double>> r(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            r[i][j] = std::inner_product(errors[i].begin(), errors[i].end(), errors[j].begin(), 0.0) /
                      static_cast<double>(errors[i].size());
    const auto l = factor(r);

    PooledScores seen;
    std::vector<double> z;
    for (const Verdict& v : verdicts) z.insert(z.end(), v.z.begin(), v.z.end());
    seen.distance = distance_from_normal(z);
    seen.mean_square = mean_square(z);
    seen.greatest = greatest_size(z);

    constexpr int times = 20000;
    Random random(test_seed() + 91);
    std::vector<double> normal(n), common(n), one(n);
    const auto correlated = [&](std::vector<double>& out) {
        random.fill_normal(normal);
        for (std::size_t i = 0; i < n; ++i)
            out[i] = std::inner_product(l[i].begin(), l[i].begin() + static_cast<std::ptrdiff_t>(i) + 1, normal.begin(),
                                        0.0);
    };
    double further = 0, above = 0, greater = 0;
    for (int t = 0; t < times; ++t) {
        correlated(common);
        z.clear();
        for (std::size_t s = 0; s < runs.size(); ++s) {
            correlated(one);
            for (std::size_t i = 0; i < n; ++i)
                z.push_back(std::sqrt(1 - shared[i]) * one[i] + std::sqrt(shared[i]) * common[i]);
        }
        further += distance_from_normal(z) >= seen.distance;
        above += mean_square(z) >= seen.mean_square;
        greater += greatest_size(z) >= seen.greatest;
    }
    seen.p_distance = further / times;
    seen.p_greatest = greater / times;
    seen.p_mean_square = 2 * std::min(above, times - above) / times;
    return seen;
}

}  // namespace pollen::test
