#include <pollen/autograd/support/error.hpp>
#include <pollen/nn/prediction/metrics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pollen {

namespace {

template <Real T>
void check_scores(const std::string& metric, const char* name, const Tensor<T>& scores) {
    if (scores.rank() != 1)
        throw ShapeError(metric + ": the scores `" + name + "` have shape " + to_string(scores.shape()) +
                         "; (n) is needed");
    if (scores.size() == 0) throw ValueError(metric + ": there are no scores `" + name + "`");
    for (std::int64_t k = 0; k < scores.size(); ++k) {
        if (std::isnan(scores.data()[k]))
            throw ValueError(metric + ": score " + std::to_string(k) + " of `" + name + "` is NaN");
    }
}

template <Real T>
void check_scores(const std::string& metric, const Tensor<T>& in, const Tensor<T>& out) {
    check_scores(metric, "in", in);
    check_scores(metric, "out", out);
}

template <Real T>
std::vector<T> sorted(const Tensor<T>& scores) {
    std::vector<T> values(scores.begin(), scores.end());
    std::sort(values.begin(), values.end());
    return values;
}

// For each of `scores`, the share of `others` that is below it, ties counting half: its mid-rank among all, less its
// mid-rank among its own kind, over the number of the others. From the lowest score up, so that sums over them do not
// depend on the items' order.
template <Real T>
std::vector<double> placements(const Tensor<T>& scores, const Tensor<T>& others) {
    const std::vector<T> ladder = sorted(others);
    std::vector<double> shares;
    shares.reserve(static_cast<std::size_t>(scores.size()));
    for (const T score : sorted(scores)) {
        const auto [low, high] = std::equal_range(ladder.begin(), ladder.end(), score);
        const auto twice = (low - ladder.begin()) + (high - ladder.begin());
        shares.push_back(static_cast<double>(twice) / (2 * static_cast<double>(others.size())));
    }
    return shares;
}

double mean_of(const std::vector<double>& x) {
    return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

// The squared standard error of the mean; NaN for a single number.
double squared_error_of_mean(const std::vector<double>& x) {
    const double mean = mean_of(x), n = static_cast<double>(x.size());
    double total = 0;
    for (const double v : x) total += (v - mean) * (v - mean);
    return x.size() > 1 ? total / (n - 1) / n : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

template <Real T>
double auroc(const Tensor<T>& in, const Tensor<T>& out) {
    check_scores("auroc", in, out);
    return mean_of(placements(out, in));
}

template <Real T>
double auroc_standard_error(const Tensor<T>& in, const Tensor<T>& out) {
    check_scores("auroc_standard_error", in, out);
    return std::sqrt(squared_error_of_mean(placements(out, in)) + squared_error_of_mean(placements(in, out)));
}

template <Real T>
double aupr(const Tensor<T>& in, const Tensor<T>& out) {
    check_scores("aupr", in, out);
    const std::vector<T> negatives = sorted(in), positives = sorted(out);
    double area = 0;
    std::size_t true_positives = 0, false_positives = 0;
    while (true_positives < positives.size()) {
        // Recall only grows at the scores of positives, so those are the steps.
        const T threshold = positives[positives.size() - 1 - true_positives];
        const std::size_t before = true_positives;
        while (true_positives < positives.size() && positives[positives.size() - 1 - true_positives] == threshold)
            ++true_positives;
        while (false_positives < negatives.size() && negatives[negatives.size() - 1 - false_positives] >= threshold)
            ++false_positives;
        area += static_cast<double>(true_positives - before) * static_cast<double>(true_positives) /
                static_cast<double>(true_positives + false_positives);
    }
    return area / static_cast<double>(positives.size());
}

#define POLLEN_INSTANTIATE(T)                                                 \
    template double auroc(const Tensor<T>&, const Tensor<T>&);                \
    template double auroc_standard_error(const Tensor<T>&, const Tensor<T>&); \
    template double aupr(const Tensor<T>&, const Tensor<T>&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
