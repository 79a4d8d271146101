#include <pollen/samplers/adaptation/warmup.hpp>

#include <pollen/samplers/options.hpp>

namespace pollen {

void WarmupOptions::check(const std::string& who, MetricKind kind) const {
    check_positive(who, "warmup.gamma", gamma);
    check_positive(who, "warmup.t0", t0);
    check_positive(who, "warmup.kappa", kappa);
    WindowSizes{first, window, last}.check(who + ": warmup.", step_size && metric && kind != MetricKind::unit);
}

std::string WarmupOptions::describe() const {
    return std::string("{step_size = ") + (step_size ? "adapted" : "fixed") +
           ", metric = " + (metric ? "adapted" : "fixed") + ", gamma = " + to_text(gamma) + ", t0 = " + to_text(t0) +
           ", kappa = " + to_text(kappa) + ", first = " + to_text(first) + ", window = " + to_text(window) +
           ", last = " + to_text(last) + "}";
}

Warmup::Warmup(std::int64_t steps, double target, const WarmupOptions& options, MetricKind kind, std::int64_t size)
    : steps_(steps),
      step_size_(options.step_size && steps > 0),
      metric_(options.metric && kind != MetricKind::unit && steps >= 20),
      averaging_(target, {options.gamma, options.t0, options.kappa}) {
    if (metric_) metric_adaptation_ = {steps, {options.first, options.window, options.last}, kind, size};
}

template <Real T>
bool Warmup::learn(std::int64_t step, double acceptance, std::span<const T> position, double& step_size,
                   Metric<T>& metric) {
    if (step_size_) step_size = averaging_.learn(acceptance);
    const bool changed =
        metric_ && metric_adaptation_.learn(step, position, metric) == MetricAdaptation::Result::changed;
    if (step == steps_ - 1 && step_size_) step_size = averaging_.average();
    return changed;
}

void Warmup::visit(StateVisitor& visitor) {
    if (step_size_) averaging_.visit(visitor);
    if (metric_) metric_adaptation_.visit(visitor);
}

template bool Warmup::learn(std::int64_t, double, std::span<const float>, double&, Metric<float>&);
template bool Warmup::learn(std::int64_t, double, std::span<const double>, double&, Metric<double>&);

}  // namespace pollen
