#include <pollen/autograd/math.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/nn/prediction/predictive.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

namespace pollen {

namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();
// exp() of less than this is on its way to 0 in double, where it would lose its digits and then itself.
constexpr double smallest_log = -700;

std::int64_t rows_at_once(std::int64_t classes) { return std::max<std::int64_t>(1, 8192 / classes); }

// log(exp(a) + exp(b))
double log_add(double a, double b) {
    const double high = std::max(a, b), low = std::min(a, b);
    return std::isinf(high) ? high : high + math::log1p(math::exp(low - high));
}

// softmax(x) = e / (1 + rest) with e_c = exp(x_c - highest), where the one highest logit is not part of the rest.
struct Softmax {
    double highest, rest = 0;

    template <class T>
    Softmax(const T* x, std::vector<double>& e) {
        const auto best = static_cast<std::size_t>(std::max_element(x, x + e.size()) - x);
        highest = static_cast<double>(x[best]);
        for (std::size_t c = 0; c < e.size(); ++c) {
            e[c] = c == best ? 1 : math::exp(static_cast<double>(x[c]) - highest);
            if (c != best) rest += e[c];
        }
    }
};

}  // namespace

template <Real T>
void Predictive<T>::check(const Tensor<T>& logits) const {
    const Shape& shape = logits.shape();
    if (shape.rank() != 2 || shape[1] == 0)
        throw ShapeError("Predictive: logits have shape " + to_string(shape) + "; (n, classes) is needed");
    if (shape[1] == 1)
        throw ShapeError("Predictive: logits have shape " + to_string(shape) +
                         ", but one class always has the probability 1; for numbers there is PredictiveNumbers");
    const std::string draw = "draw " + std::to_string(draws_);
    if (draws_ > 0 && shape != shape_)
        throw ShapeError("Predictive: the logits of " + draw + " have shape " + to_string(shape) +
                         ", those before it have " + to_string(shape_));
    for (std::int64_t row = 0; row < shape[0]; ++row) {
        const T* x = logits.data() + row * shape[1];
        T highest = -std::numeric_limits<T>::infinity();
        for (std::int64_t c = 0; c < shape[1]; ++c) {
            if (!(x[c] < std::numeric_limits<T>::infinity()))
                throw ValueError("Predictive: the logit of class " + std::to_string(c) + " of item " +
                                 std::to_string(row) + " in " + draw + " is " +
                                 (std::isnan(x[c]) ? "NaN" : "infinity"));
            highest = std::max(highest, x[c]);
        }
        if (std::isinf(highest))
            throw ValueError("Predictive: all logits of item " + std::to_string(row) + " in " + draw +
                             " are -infinity");
    }
}

// With e_c = exp(x_c - max x) and s = sum e_c, the entropy is
//
//     H = log s + 1/s sum_c e_c (max x - x_c),
//
// a sum of numbers that are not negative: nothing cancels. Means are updated as m + (v - m) w / W, which leaves a mean
// of equal numbers exactly what they are.
template <Real T>
void Predictive<T>::add(const Tensor<T>& logits, double weight) {
    check(logits);
    check_weight("Predictive", weight);
    if (weight == 0) return;
    const std::int64_t rows = logits.shape()[0], classes = logits.shape()[1];
    if (draws_ == 0) {
        mean_.assign(static_cast<std::size_t>(rows * classes), 0);
        entropies_.assign(static_cast<std::size_t>(rows), 0);
        shape_ = logits.shape();
    }
    ++draws_;
    weight_ += weight;
    const double share = weight / weight_;
    std::atomic<bool> has_tiny = false;
    parallel_for(rows, rows_at_once(classes), [&](std::int64_t begin, std::int64_t end) {
        bool tiny = false;
        std::vector<double> e(static_cast<std::size_t>(classes));
        for (std::int64_t row = begin; row < end; ++row) {
            const T* x = logits.data() + row * classes;
            double* mean = mean_.data() + row * classes;
            const Softmax softmax(x, e);
            const double log_sum = math::log1p(softmax.rest);
            double entropy = log_sum;
            for (std::int64_t c = 0; c < classes; ++c) {
                const double z = static_cast<double>(x[c]) - softmax.highest, log_p = z - log_sum;
                double p = 0;
                if (log_p >= smallest_log) {
                    p = e[static_cast<std::size_t>(c)] / (1 + softmax.rest);
                    entropy -= p * z;
                } else if (log_p > minus_infinity) {
                    tiny = true;
                }
                mean[c] += (p - mean[c]) * share;
            }
            double& average = entropies_[static_cast<std::size_t>(row)];
            average += (entropy - average) * share;
        }
        if (tiny) has_tiny = true;
    });
    if (has_tiny) add_tiny(logits, weight);
}

template <Real T>
void Predictive<T>::add_tiny(const Tensor<T>& logits, double weight) {
    const double log_weight = math::log(weight);
    const std::int64_t rows = shape_[0], classes = shape_[1];
    tiny_.resize(mean_.size(), minus_infinity);
    parallel_for(rows, rows_at_once(classes), [&](std::int64_t begin, std::int64_t end) {
        std::vector<double> e(static_cast<std::size_t>(classes));
        for (std::int64_t row = begin; row < end; ++row) {
            const T* x = logits.data() + row * classes;
            const Softmax softmax(x, e);
            const double log_sum = math::log1p(softmax.rest);
            for (std::int64_t c = 0; c < classes; ++c) {
                const double log_p = static_cast<double>(x[c]) - softmax.highest - log_sum;
                double& sum = tiny_[static_cast<std::size_t>(row * classes + c)];
                if (log_p < smallest_log) sum = log_add(sum, log_p + log_weight);
            }
        }
    });
}

template <Real T>
void Predictive<T>::check_draws(const char* what) const {
    if (draws_ == 0) throw ValueError(std::string("Predictive: ") + what + "() of no draws; add() one first");
}

template <Real T>
Tensor<T> Predictive<T>::probabilities() const {
    check_draws("probabilities");
    Tensor<T> p = Tensor<T>::empty(shape_);
    std::transform(mean_.begin(), mean_.end(), p.fresh_data(), [](double v) { return static_cast<T>(v); });
    return p;
}

template <Real T>
Tensor<T> Predictive<T>::log_probabilities() const {
    check_draws("log_probabilities");
    const double log_weight = math::log(weight_);
    Tensor<T> logs = Tensor<T>::empty(shape_);
    for (std::size_t k = 0; k < mean_.size(); ++k) {
        double log_p = math::log(mean_[k]);
        if (!tiny_.empty()) log_p = log_add(log_p, tiny_[k] - log_weight);
        logs.fresh_data()[k] = static_cast<T>(log_p);
    }
    return logs;
}

template <Real T>
double Predictive<T>::entropy_of_row(std::int64_t row) const {
    double entropy = 0;
    for (std::int64_t c = 0; c < shape_[1]; ++c) {
        const double p = mean_[static_cast<std::size_t>(row * shape_[1] + c)];
        if (p > 0) entropy -= p * math::log(p);
    }
    return std::max(0.0, entropy);
}

template <Real T>
template <class F>
Tensor<T> Predictive<T>::each_row(F f) const {
    Tensor<T> values = Tensor<T>::empty(Shape{shape_[0]});
    for (std::int64_t row = 0; row < shape_[0]; ++row) values.fresh_data()[row] = static_cast<T>(f(row));
    return values;
}

template <Real T>
Tensor<T> Predictive<T>::entropy() const {
    check_draws("entropy");
    return each_row([this](std::int64_t row) { return entropy_of_row(row); });
}

template <Real T>
Tensor<T> Predictive<T>::expected_entropy() const {
    check_draws("expected_entropy");
    return each_row([this](std::int64_t row) { return entropies_[static_cast<std::size_t>(row)]; });
}

template <Real T>
Tensor<T> Predictive<T>::mutual_information() const {
    check_draws("mutual_information");
    // The entropy is concave, so only rounding can make the difference negative.
    return each_row([this](std::int64_t row) {
        return std::max(0.0, entropy_of_row(row) - entropies_[static_cast<std::size_t>(row)]);
    });
}

template class Predictive<float>;
template class Predictive<double>;

}  // namespace pollen
