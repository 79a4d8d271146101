#include <pollen/samplers/adaptation/warmup.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

void WarmupOptions::check(const std::string& who, MetricKind kind) const {
    const auto positive = [&](const char* name, double x) {
        if (!(x > 0) || std::isinf(x))
            throw ValueError(who + ": warmup." + name + " is " + to_text(x) + "; it must be positive");
    };
    positive("gamma", gamma);
    positive("t0", t0);
    positive("kappa", kappa);
    check_windows(who + ": warmup.", first, window, last, step_size && metric && kind != MetricKind::unit);
}

void check_windows(const std::string& before, std::int64_t first, std::int64_t window, std::int64_t last, bool both) {
    for (const auto& [name, n] : {NamedSize{"first", first}, NamedSize{"last", last}})
        if (n < 0) throw ValueError(before + name + " is " + std::to_string(n) + "; it must not be negative");
    if (window < 1) throw ValueError(before + "window is " + std::to_string(window) + "; at least 1 is needed");
    if (last == 0 && both)
        throw ValueError(before + "last is 0; after the last metric some steps are needed to find a step size for it");
}

std::string WarmupOptions::describe() const {
    return std::string("{step_size = ") + (step_size ? "adapted" : "fixed") +
           ", metric = " + (metric ? "adapted" : "fixed") + ", gamma = " + to_text(gamma) + ", t0 = " + to_text(t0) +
           ", kappa = " + to_text(kappa) + ", first = " + to_text(first) + ", window = " + to_text(window) +
           ", last = " + to_text(last) + "}";
}

void DualAveraging::restart(double step_size) {
    mu_ = std::log(10 * step_size);
    mean_ = average_ = 0;
    count_ = 0;
}

double DualAveraging::learn(double acceptance) {
    ++count_;
    const auto t = static_cast<double>(count_);
    const double eta = 1 / (t + t0_);
    mean_ = (1 - eta) * mean_ + eta * (target_ - std::min(acceptance, 1.0));
    const double x = mu_ - mean_ * std::sqrt(t) / gamma_;
    const double weight = std::pow(t, -kappa_);
    average_ = (1 - weight) * average_ + weight * x;
    return std::exp(x);
}

double DualAveraging::average() const { return std::exp(average_); }

void DualAveraging::visit(StateVisitor& visitor) {
    visitor.number("averaging_mu", mu_);
    visitor.number("averaging_mean", mean_);
    visitor.number("averaging_average", average_);
    visitor.integer("averaging_count", count_);
}

WindowMoments::WindowMoments(bool dense, std::int64_t size)
    : dense_(dense),
      mean_(static_cast<std::size_t>(size)),
      squares_(static_cast<std::size_t>(dense ? size * size : size)),
      delta_(static_cast<std::size_t>(size)) {}

void WindowMoments::restart() {
    count_ = 0;
    std::fill(mean_.begin(), mean_.end(), 0.0);
    std::fill(squares_.begin(), squares_.end(), 0.0);
}

template <Real T>
void WindowMoments::add(std::span<const T> x) {
    ++count_;
    const double weight = 1 / static_cast<double>(count_);
    const std::size_t n = mean_.size();
    for (std::size_t i = 0; i < n; ++i) {
        delta_[i] = static_cast<double>(x[i]) - mean_[i];
        mean_[i] += delta_[i] * weight;
    }
    if (!dense_) {
        for (std::size_t i = 0; i < n; ++i) squares_[i] += delta_[i] * (static_cast<double>(x[i]) - mean_[i]);
        return;
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) squares_[i * n + j] += (1 - weight) * (delta_[i] * delta_[j]);
}

std::vector<double> WindowMoments::regularised() const {
    const auto n = static_cast<double>(count_);
    const std::size_t d = mean_.size();
    std::vector<double> result(squares_.size());
    const double scale = count_ > 1 ? n / ((n + 5) * (n - 1)) : 0;
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = scale * squares_[i];
    for (std::size_t i = 0; i < d; ++i) result[dense_ ? i * d + i : i] += 1e-3 * (5 / (n + 5));
    return result;
}

void WindowMoments::visit(StateVisitor& visitor) {
    visitor.integer("window_count", count_);
    visitor.vector("window_mean", mean_);
    visitor.vector("window_squares", squares_);
}

WarmupWindows::WarmupWindows(std::int64_t warmup, const WarmupOptions& options) {
    if (warmup < 20) return;
    std::int64_t first = options.first, last = options.last;
    size_ = options.window;
    if (first + size_ + last > warmup) {
        first = static_cast<std::int64_t>(0.15 * static_cast<double>(warmup));
        last = static_cast<std::int64_t>(0.1 * static_cast<double>(warmup));
        size_ = warmup - first - last;
    }
    begin_ = first;
    end_ = warmup - last;
    next_ = begin_ + size_ - 1;
}

// Steps after the end of a window. A window after which twice its length does not fit any more takes all that is left.
void WarmupWindows::advance(std::int64_t step) {
    if (next_ == end_ - 1) return;
    size_ *= 2;
    next_ = step + size_;
    if (next_ == end_ - 1) return;
    if (next_ + 2 * size_ >= end_) next_ = end_ - 1;
}

void WarmupWindows::visit(StateVisitor& visitor) {
    visitor.integer("window_size", size_);
    visitor.integer("window_end", next_);
}

Warmup::Warmup(std::int64_t steps, double target, const WarmupOptions& options, MetricKind kind, std::int64_t size)
    : steps_(steps),
      step_size_(options.step_size && steps > 0),
      metric_(options.metric && kind != MetricKind::unit && steps >= 20),
      averaging_(target, options) {
    if (!metric_) return;
    windows_ = WarmupWindows(steps, options);
    moments_ = WindowMoments(kind == MetricKind::dense, size);
}

template <Real T>
bool Warmup::learn(std::int64_t step, double acceptance, std::span<const T> position, double& step_size,
                   Metric<T>& metric) {
    if (step_size_) step_size = averaging_.learn(acceptance);
    bool changed = false;
    if (metric_) {
        if (windows_.inside(step)) moments_.add(position);
        if (windows_.last_of_window(step)) {
            changed = metric.estimate_inverse(moments_.regularised());
            windows_.advance(step);
            moments_.restart();
        }
    }
    if (step == steps_ - 1 && step_size_) step_size = averaging_.average();
    return changed;
}

void Warmup::visit(StateVisitor& visitor) {
    if (step_size_) averaging_.visit(visitor);
    if (!metric_) return;
    windows_.visit(visitor);
    moments_.visit(visitor);
}

template void WindowMoments::add(std::span<const float>);
template void WindowMoments::add(std::span<const double>);
template bool Warmup::learn(std::int64_t, double, std::span<const float>, double&, Metric<float>&);
template bool Warmup::learn(std::int64_t, double, std::span<const double>, double&, Metric<double>&);

}  // namespace pollen
