#pragma once

#include <pollen/samplers/adaptation/dual_averaging.hpp>
#include <pollen/samplers/adaptation/metric_windows.hpp>

#include <cstdint>
#include <span>
#include <string>

// The warm-up of HMC, NUTS and MALA: Stan's, with its constants.
namespace pollen {

struct WarmupOptions {
    bool step_size = true;                            // adapt it, and search for a first one
    bool metric = true;                               // adapt M^-1, unless it is `unit`
    double gamma = 0.05, t0 = 10, kappa = 0.75;       // of dual averaging
    std::int64_t first = 75, window = 25, last = 50;  // of the windows for M^-1; see WindowSizes

    void check(const std::string& who, MetricKind kind) const;
    std::string describe() const;
};

// Adapts the step size by DualAveraging and the metric by MetricAdaptation.
class Warmup {
  public:
    Warmup(std::int64_t steps, double target, const WarmupOptions& options, MetricKind kind, std::int64_t size);

    bool adapts_step_size() const { return step_size_; }
    bool active(std::int64_t step) const { return step < steps_; }
    // Begins to adapt the step size, from this one on.
    void begin(double step_size) { averaging_.restart(step_size); }

    // After step `step` of the warm-up: sets the next step size. Returns whether there is a new M^-1; if so, the
    // sampler searches for a step size that suits it, and calls begin() with that before the next step.
    template <Real T>
    bool learn(std::int64_t step, double acceptance, std::span<const T> position, double& step_size, Metric<T>& metric);
    void visit(StateVisitor& visitor);

  private:
    std::int64_t steps_;
    bool step_size_, metric_;
    DualAveraging averaging_;
    MetricAdaptation metric_adaptation_;
};

}  // namespace pollen
