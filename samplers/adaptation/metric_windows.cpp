#include <pollen/samplers/adaptation/metric_windows.hpp>

#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/options.hpp>

#include <algorithm>

namespace pollen {

void WindowSizes::check(const std::string& before, bool adapts_both) const {
    const auto not_negative = [&](const char* name, std::int64_t n) {
        if (n < 0) throw ValueError(before + name + " is " + std::to_string(n) + "; it must not be negative");
    };
    not_negative("first", first);
    not_negative("last", last);
    if (window < 1) throw ValueError(before + "window is " + std::to_string(window) + "; at least 1 is needed");
    if (last == 0 && adapts_both)
        throw ValueError(before + "last is 0; after the last metric some steps are needed to find a step size for it");
}

WarmupWindows::WarmupWindows(std::int64_t warmup, const WindowSizes& sizes) {
    if (warmup < 20) return;
    std::int64_t first = sizes.first, last = sizes.last;
    size_ = sizes.window;
    if (first + size_ + last > warmup) {
        first = static_cast<std::int64_t>(0.15 * static_cast<double>(warmup));
        last = static_cast<std::int64_t>(0.1 * static_cast<double>(warmup));
        size_ = warmup - first - last;
    }
    begin_ = first;
    end_ = warmup - last;
    next_ = begin_ + size_ - 1;
}

// If the window after the next one would not fit, the next one takes all that is left.
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
    check_saved_count("window_size", size_);
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
    check_saved_count("window_count", count_);
    visitor.vector("window_mean", mean_);
    visitor.vector("window_squares", squares_);
}

MetricAdaptation::MetricAdaptation(std::int64_t warmup, const WindowSizes& sizes, MetricKind kind, std::int64_t size)
    : windows_(warmup, sizes), moments_(kind == MetricKind::dense, size) {}

template <Real T>
MetricAdaptation::Result MetricAdaptation::learn(std::int64_t step, std::span<const T> position, Metric<T>& metric) {
    if (windows_.inside(step)) moments_.add(position);
    if (!windows_.last_of_window(step)) return Result::window_goes_on;
    const bool changed = metric.estimate_inverse(moments_.regularised());
    windows_.advance(step);
    moments_.restart();
    return changed ? Result::changed : Result::unchanged;
}

void MetricAdaptation::visit(StateVisitor& visitor) {
    windows_.visit(visitor);
    moments_.visit(visitor);
}

#define POLLEN_INSTANTIATE(T)                             \
    template void WindowMoments::add(std::span<const T>); \
    template MetricAdaptation::Result MetricAdaptation::learn(std::int64_t, std::span<const T>, Metric<T>&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
