#pragma once

#include <pollen/samplers/adaptation/metric.hpp>
#include <pollen/samplers/chain.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

// What a warm-up adapts, with the algorithms and constants of Stan.
namespace pollen {

// Options of a warm-up.
struct WarmupOptions {
    bool step_size = true;  // adapt it, and search for a first one
    bool metric = true;     // adapt M^-1, unless it is `unit`
    double gamma = 0.05, t0 = 10, kappa = 0.75;
    // The first steps and the last steps adapt the step size alone. In between are windows, each twice as long as the
    // one before it, and M^-1 is estimated anew from each.
    std::int64_t first = 75, window = 25, last = 50;

    void check(const std::string& who, MetricKind kind) const;
    std::string describe() const;
};

// Throws unless they are the sizes of windows, for a step size and a metric that are adapted `both`. `before` is what
// the names begin with: "Hmc: warmup.".
void check_windows(const std::string& before, std::int64_t first, std::int64_t window, std::int64_t last, bool both);

// Dual averaging (Hoffman & Gelman, The No-U-Turn sampler, 2014, Eq. 6): with H_t = target - acceptance of step t,
//
//     x_t    = mu - sqrt(t) / gamma * 1 / (t + t0) sum_i H_i          log of the next step size
//     xbar_t = t^-kappa x_t + (1 - t^-kappa) xbar_{t-1}               log of the one to stay at
class DualAveraging {
  public:
    DualAveraging() = default;
    DualAveraging(double target, const WarmupOptions& options)
        : target_(target), gamma_(options.gamma), t0_(options.t0), kappa_(options.kappa) {}

    // Begins anew, around mu = log(10 step_size).
    void restart(double step_size);
    // The next step size.
    double learn(double acceptance);
    double average() const;
    void visit(StateVisitor& visitor);

  private:
    double target_ = 0.8, gamma_ = 0.05, t0_ = 10, kappa_ = 0.75;
    double mu_ = 0, mean_ = 0, average_ = 0;
    std::int64_t count_ = 0;
};

// Variances or covariances of the positions of a window (Welford 1962), drawn a little towards 1/1000 of the identity:
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
    // As Metric takes them.
    std::vector<double> regularised() const;
    void visit(StateVisitor& visitor);

  private:
    bool dense_ = false;
    std::int64_t count_ = 0;
    std::vector<double> mean_, squares_, delta_;
};

// The windows of a warm-up of so many steps. Where the three stages do not fit, they are 15 %, 75 % and 10 % of it; a
// warm-up of less than 20 steps has no windows.
class WarmupWindows {
  public:
    WarmupWindows() = default;
    WarmupWindows(std::int64_t warmup, const WarmupOptions& options);

    bool inside(std::int64_t step) const { return step >= begin_ && step < end_; }
    bool last_of_window(std::int64_t step) const { return step == next_; }
    void advance(std::int64_t step);
    void visit(StateVisitor& visitor);

  private:
    std::int64_t begin_ = 0, end_ = 0, size_ = 0, next_ = -1;
};

// All of a warm-up together.
class Warmup {
  public:
    Warmup(std::int64_t steps, double target, const WarmupOptions& options, MetricKind kind, std::int64_t size);

    bool adapts_step_size() const { return step_size_; }
    bool active(std::int64_t step) const { return step < steps_; }
    void begin(double step_size) { averaging_.restart(step_size); }

    // After step `step` of the warm-up. True if there is a new M^-1: the sampler looks for a step size that goes with
    // it and calls begin() with that. A window whose draws make no M^-1 (some are too large) leaves the one before.
    template <Real T>
    bool learn(std::int64_t step, double acceptance, std::span<const T> position, double& step_size, Metric<T>& metric);
    void visit(StateVisitor& visitor);

  private:
    std::int64_t steps_;
    bool step_size_, metric_;
    DualAveraging averaging_;
    WarmupWindows windows_;
    WindowMoments moments_;
};

}  // namespace pollen
