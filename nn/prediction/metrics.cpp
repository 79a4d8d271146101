#include <pollen/autograd/math.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/nn/prediction/metrics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace pollen {

namespace {

constexpr double sum_tolerance = 1e-3;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::string item(std::int64_t row) { return "item " + std::to_string(row); }

void check_shape(const std::string& metric, const char* what, const Shape& shape) {
    if (shape.rank() != 2 || (shape[0] > 0 && shape[1] == 0))
        throw ShapeError(metric + ": " + what + " have shape " + to_string(shape) + "; (n, classes) is needed");
}

void check_labels(const std::string& metric, const char* what, const Shape& shape, const Indices& labels) {
    check_shape(metric, what, shape);
    if (labels.shape() != Shape{shape[0]})
        throw ShapeError(metric + ": " + what + " have shape " + to_string(shape) + ", labels " +
                         to_string(labels.shape()) + "; one label for each row, (" + std::to_string(shape[0]) +
                         "), is needed");
    if (shape[0] == 0) throw ValueError(metric + ": there are no items");
    for (std::int64_t row = 0; row < shape[0]; ++row) {
        const std::int32_t label = labels.data()[row];
        if (label < 0 || label >= shape[1])
            throw ValueError(metric + ": the label of " + item(row) + " is " + std::to_string(label) + "; " + what +
                             " " + to_string(shape) + " have classes 0 to " + std::to_string(shape[1] - 1));
    }
}

template <Real T>
void check_probabilities(const std::string& metric, const Tensor<T>& probabilities) {
    const std::int64_t rows = probabilities.shape()[0], classes = probabilities.shape()[1];
    for (std::int64_t row = 0; row < rows; ++row) {
        const T* p = probabilities.data() + row * classes;
        double total = 0;
        for (std::int64_t c = 0; c < classes; ++c) {
            if (!(p[c] >= 0))
                throw ValueError(metric + ": the probability of class " + std::to_string(c) + " of " + item(row) +
                                 " is " + to_text(static_cast<double>(p[c])) + "; it must be between 0 and 1");
            total += static_cast<double>(p[c]);
        }
        if (!(std::abs(total - 1) <= sum_tolerance))
            throw ValueError(metric + ": the probabilities of " + item(row) + " sum to " + to_text(total) +
                             "; they must sum to 1 within " + to_text(sum_tolerance));
    }
}

template <Real T>
void check_log_probabilities(const std::string& metric, const Tensor<T>& logs) {
    const std::int64_t rows = logs.shape()[0], classes = logs.shape()[1];
    for (std::int64_t row = 0; row < rows; ++row) {
        double total = 0;
        for (std::int64_t c = 0; c < classes; ++c)
            total += math::exp(static_cast<double>(logs.data()[row * classes + c]));
        if (!(std::abs(total - 1) <= sum_tolerance))
            throw ValueError(metric + ": the exponentials of " + item(row) + "'s log-probabilities sum to " +
                             to_text(total) + "; they must sum to 1 within " + to_text(sum_tolerance));
    }
}

template <Real T>
void check(const std::string& metric, const Tensor<T>& probabilities, const Indices& labels) {
    check_labels(metric, "probabilities", probabilities.shape(), labels);
    check_probabilities(metric, probabilities);
}

template <Real T>
std::span<const T> row_of(const Tensor<T>& matrix, std::int64_t row) {
    const auto classes = static_cast<std::size_t>(matrix.shape()[1]);
    return matrix.values().subspan(static_cast<std::size_t>(row) * classes, classes);
}

// The mean of f(row, label).
template <Real T, class F>
double mean_over_items(const Tensor<T>& rows, const Indices& labels, F f) {
    double total = 0;
    for (std::int64_t row = 0; row < labels.size(); ++row)
        total += f(row_of(rows, row), static_cast<std::size_t>(labels.data()[row]));
    return total / static_cast<double>(labels.size());
}

template <Real T>
std::size_t most_probable(std::span<const T> p) {
    return static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
}

}  // namespace

template <Real T>
double accuracy(const Tensor<T>& probabilities, const Indices& labels) {
    check("accuracy", probabilities, labels);
    return mean_over_items(probabilities, labels, [](std::span<const T> p, std::size_t label) {
        return most_probable(p) == label ? 1.0 : 0.0;
    });
}

template <Real T>
double nll(const Tensor<T>& probabilities, const Indices& labels) {
    check("nll", probabilities, labels);
    return mean_over_items(probabilities, labels, [](std::span<const T> p, std::size_t label) {
        return -math::log(static_cast<double>(p[label]));
    });
}

template <Real T>
double nll_from_logs(const Tensor<T>& log_probabilities, const Indices& labels) {
    check_labels("nll_from_logs", "log-probabilities", log_probabilities.shape(), labels);
    check_log_probabilities("nll_from_logs", log_probabilities);
    return mean_over_items(log_probabilities, labels, [](std::span<const T> logs, std::size_t label) {
        return -static_cast<double>(logs[label]);
    });
}

template <Real T>
double brier(const Tensor<T>& probabilities, const Indices& labels) {
    check("brier", probabilities, labels);
    return mean_over_items(probabilities, labels, [](std::span<const T> p, std::size_t label) {
        double total = 0;
        for (std::size_t c = 0; c < p.size(); ++c) {
            const double error = static_cast<double>(p[c]) - (c == label ? 1 : 0);
            total += error * error;
        }
        return total;
    });
}

template <Real T>
Tensor<T> predictive_entropy(const Tensor<T>& probabilities) {
    check_shape("predictive_entropy", "probabilities", probabilities.shape());
    check_probabilities("predictive_entropy", probabilities);
    const std::int64_t rows = probabilities.shape()[0], classes = probabilities.shape()[1];
    Tensor<T> entropies = Tensor<T>::empty(Shape{rows});
    for (std::int64_t row = 0; row < rows; ++row) {
        double entropy = 0;
        for (std::int64_t c = 0; c < classes; ++c) {
            const double p = static_cast<double>(probabilities.data()[row * classes + c]);
            if (p > 0) entropy -= p * math::log(p);
        }
        entropies.fresh_data()[row] = static_cast<T>(entropy);
    }
    return entropies;
}

namespace {

struct Judged {
    double confidence;
    bool right;
};

ReliabilityBin bin_of(double low, double high, std::span<const Judged> items) {
    ReliabilityBin bin{low, high, std::ssize(items), not_a_number, not_a_number};
    if (items.empty()) return bin;
    double confidence = 0;
    std::int64_t right = 0;
    for (const Judged& judged : items) {
        confidence += judged.confidence;
        right += judged.right;
    }
    bin.confidence = confidence / static_cast<double>(bin.count);
    bin.accuracy = static_cast<double>(right) / static_cast<double>(bin.count);
    return bin;
}

}  // namespace

template <Real T>
std::vector<ReliabilityBin> reliability_bins(const Tensor<T>& probabilities, const Indices& labels,
                                             ReliabilityOptions options) {
    if (options.bins < 1)
        throw ValueError("reliability_bins: " + std::to_string(options.bins) + " bins; at least 1 is needed");
    check("reliability_bins", probabilities, labels);
    std::vector<Judged> items;
    for (std::int64_t row = 0; row < labels.size(); ++row) {
        const std::span<const T> p = row_of(probabilities, row);
        const std::size_t best = most_probable(p);
        items.push_back({static_cast<double>(p[best]), static_cast<std::int32_t>(best) == labels.data()[row]});
    }
    // Equal confidences in a fixed order too, so that the order of the items does not even change the rounding.
    std::sort(items.begin(), items.end(), [](const Judged& a, const Judged& b) {
        return a.confidence != b.confidence ? a.confidence < b.confidence : a.right < b.right;
    });
    const std::span<const Judged> all(items);
    const auto first_above = [&](double confidence) {
        return static_cast<std::size_t>(
            std::upper_bound(items.begin(), items.end(), confidence,
                             [](double c, const Judged& judged) { return c < judged.confidence; }) -
            items.begin());
    };
    const auto bins_wanted = static_cast<std::size_t>(options.bins);
    std::vector<ReliabilityBin> bins;
    std::size_t begin = 0;
    for (std::size_t b = 0; b < bins_wanted; ++b) {
        const bool last = b + 1 == bins_wanted;
        if (options.cut == ReliabilityOptions::Cut::equal_width) {
            const double low = static_cast<double>(b) / options.bins, high = static_cast<double>(b + 1) / options.bins;
            // A probability may be above 1 by rounding.
            const std::size_t end = last ? items.size() : first_above(high);
            bins.push_back(bin_of(low, high, all.subspan(begin, end - begin)));
            begin = end;
        } else {
            const std::size_t cut = items.size() * (b + 1) / bins_wanted;
            if (cut <= begin) continue;
            const std::size_t end = first_above(items[cut - 1].confidence);
            bins.push_back(bin_of(items[begin].confidence, items[end - 1].confidence, all.subspan(begin, end - begin)));
            begin = end;
        }
    }
    return bins;
}

double ece(std::span<const ReliabilityBin> bins) {
    double total = 0;
    std::int64_t items = 0;
    for (const ReliabilityBin& bin : bins) {
        if (bin.count > 0) total += static_cast<double>(bin.count) * std::abs(bin.accuracy - bin.confidence);
        items += bin.count;
    }
    if (items == 0) throw ValueError("ece: there are no items");
    return total / static_cast<double>(items);
}

double mce(std::span<const ReliabilityBin> bins) {
    double most = -1;
    for (const ReliabilityBin& bin : bins) {
        if (bin.count > 0) most = std::max(most, std::abs(bin.accuracy - bin.confidence));
    }
    if (most < 0) throw ValueError("mce: there are no items");
    return most;
}

#define POLLEN_INSTANTIATE(T)                                        \
    template double accuracy(const Tensor<T>&, const Indices&);      \
    template double nll(const Tensor<T>&, const Indices&);           \
    template double nll_from_logs(const Tensor<T>&, const Indices&); \
    template double brier(const Tensor<T>&, const Indices&);         \
    template Tensor<T> predictive_entropy(const Tensor<T>&);         \
    template std::vector<ReliabilityBin> reliability_bins(const Tensor<T>&, const Indices&, ReliabilityOptions);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
