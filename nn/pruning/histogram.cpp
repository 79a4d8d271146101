#include <pollen/nn/pruning/prune.hpp>

#include <pollen/autograd/support/checks.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pollen {

std::int64_t Histogram::total() const { return std::accumulate(counts.begin(), counts.end(), below + above); }

std::vector<double> Histogram::density() const {
    std::vector<double> density;
    const auto all = static_cast<double>(std::max<std::int64_t>(1, total()));
    // Halves: a difference of edges may be too large for a double.
    for (std::size_t k = 0; k < counts.size(); ++k)
        density.push_back(static_cast<double>(counts[k]) / all / (0.5 * edges[k + 1] - 0.5 * edges[k]) * 0.5);
    return density;
}

std::vector<double> Histogram::cumulative() const {
    std::vector<double> shares;
    const auto all = static_cast<double>(std::max<std::int64_t>(1, total()));
    std::int64_t sum = below;
    shares.push_back(static_cast<double>(sum) / all);
    for (const std::int64_t count : counts) shares.push_back(static_cast<double>(sum += count) / all);
    return shares;
}

Histogram histogram(const std::vector<double>& values, double low, double high, std::int64_t bins) {
    if (bins < 1) throw ValueError("histogram: " + std::to_string(bins) + " bins; at least 1 is needed");
    if (!(low < high) || !std::isfinite(low) || !std::isfinite(high))
        throw ValueError("histogram: from " + to_text(low) + " to " + to_text(high) + "; the first must be less");
    Histogram out;
    const bool wide = !std::isfinite(high - low);
    for (std::int64_t k = 0; k <= bins; ++k) {
        const double share = static_cast<double>(k) / static_cast<double>(bins);
        out.edges.push_back(k == bins ? high : wide ? (1 - share) * low + share * high : low + share * (high - low));
    }
    out.counts.assign(static_cast<std::size_t>(bins), 0);
    for (const double value : values) {
        if (std::isnan(value)) throw ValueError("histogram: a value is nan");
        if (value < low) {
            ++out.below;
        } else if (value > high) {
            ++out.above;
        } else {
            const auto edge = std::upper_bound(out.edges.begin(), out.edges.end(), value);
            ++out.counts[static_cast<std::size_t>(std::min(edge - out.edges.begin() - 1, std::ssize(out.counts) - 1))];
        }
    }
    return out;
}

Histogram histogram(const std::vector<double>& values, std::int64_t bins) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double value : values) {
        if (!std::isfinite(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    if (low > high) low = high = 0;
    if (low == high) {
        low -= 0.5;
        high += 0.5;
    }
    return histogram(values, low, high, bins);
}

}  // namespace pollen
