#pragma once

#include <pollen/samplers/adaptation/metric.hpp>
#include <pollen/samplers/chain.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

// How a warm-up estimates the metric: in windows, with Stan's algorithm and constants.
namespace pollen {

// The first steps and the last steps of a warm-up adapt the step size alone. In between are windows, each twice as long
// as the one before it, and M^-1 is estimated from each anew.
struct WindowSizes {
    std::int64_t first = 75, window = 25, last = 50;

    // Throws if a size is impossible. `before` begins the names in the message: "Hmc: warmup.". If a step size and a
    // metric are both adapted, `last` must not be 0.
    void check(const std::string& before, bool adapts_both) const;
};

// Divides the steps of a warm-up into windows. If the three stages do not fit, they take 15 %, 75 % and 10 % of the
// steps. A warm-up of fewer than 20 steps has no windows.
class WarmupWindows {
  public:
    WarmupWindows() = default;
    WarmupWindows(std::int64_t warmup, const WindowSizes& sizes);

    bool inside(std::int64_t step) const { return step >= begin_ && step < end_; }
    bool last_of_window(std::int64_t step) const { return step == next_; }
    // Goes on to the next window, after the last step of one.
    void advance(std::int64_t step);
    void visit(StateVisitor& visitor);

  private:
    std::int64_t begin_ = 0, end_ = 0, size_ = 0, next_ = -1;
};

// Variances or covariances of the positions of a window (Welford 1962), shrunk towards 1/1000 of the identity:
//
//     n / (n + 5) sample variance + 5 / (n + 5) 1e-3
class WindowMoments {
  public:
    WindowMoments() = default;
    WindowMoments(bool dense, std::int64_t size);

    void restart();
    template <Real T>
    void add(std::span<const T> x);
    std::int64_t count() const { return count_; }
    // A diagonal, or a matrix row by row, as Metric takes it.
    std::vector<double> regularised() const;
    void visit(StateVisitor& visitor);

  private:
    bool dense_ = false;
    std::int64_t count_ = 0;
    std::vector<double> mean_, squares_, delta_;
};

// Estimates the metric of a chain along its warm-up.
class MetricAdaptation {
  public:
    MetricAdaptation() = default;
    MetricAdaptation(std::int64_t warmup, const WindowSizes& sizes, MetricKind kind, std::int64_t size);

    enum class Result {
        window_goes_on,
        changed,   // a window has ended, and the metric has a new M^-1
        unchanged  // a window has ended, but its positions give no M^-1 (some are too large): the metric stays
    };
    // After step `step` of the warm-up.
    template <Real T>
    Result learn(std::int64_t step, std::span<const T> position, Metric<T>& metric);
    void visit(StateVisitor& visitor);

  private:
    WarmupWindows windows_;
    WindowMoments moments_;
};

}  // namespace pollen
