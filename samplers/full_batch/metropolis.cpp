#include <pollen/samplers/full_batch/metropolis.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/samplers/adaptation/metric_windows.hpp>
#include <pollen/samplers/full_batch/detail/full_batch_chain.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

constexpr const char* name = "Metropolis";

template <Real T>
class MetropolisChain final : public detail::FullBatchChain<T> {
  public:
    MetropolisChain(const Metropolis& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start);

    StepStatistics step() override;
    void visit(StateVisitor& visitor) override;
    std::vector<double> inverse_metric() const override { return metric_.inverse(); }
    std::span<const T> gradient() const override { return {}; }
    ChainFacts facts() const override {
        return {.target_acceptance = adapts_ ? target_ : std::numeric_limits<double>::quiet_NaN(),
                .metric = metric_.kind(),
                .step_size = step_size_};
    }

  private:
    void adapt(double acceptance);

    using detail::FullBatchChain<T>::z_;

    double first_step_size_, step_size_;
    double target_;
    bool adapts_;
    std::int64_t count_ = 0;  // steps since the step size was reset
    Metric<T> metric_;
    MetricAdaptation metric_adaptation_;
    std::vector<T> trial_;
};

template <Real T>
MetropolisChain<T>::MetropolisChain(const Metropolis& options, std::unique_ptr<Potential<T>> potential,
                                    ChainStart<T> start)
    : detail::FullBatchChain<T>(name, std::move(potential), std::move(start)),
      first_step_size_(options.step_size),
      step_size_(options.step_size),
      target_(options.target_acceptance.value_or(random_walk_target(this->size()))),
      adapts_(options.adapt && this->warmup_steps_ > 0),
      metric_(options.metric, this->size()),
      trial_(z_.position.size()) {
    if (!options.inverse_metric.empty()) metric_.set_inverse(options.inverse_metric, name);
    if (!adapts_ || options.metric == MetricKind::unit) return;
    metric_adaptation_ = {
        this->warmup_steps_, {options.first, options.window, options.last}, options.metric, this->size()};
}

template <Real T>
void MetropolisChain<T>::adapt(double acceptance) {
    ++count_;
    step_size_ *= math::exp(math::pow(static_cast<double>(count_), -0.6) * (acceptance - target_));
    using Result = MetricAdaptation::Result;
    if (metric_adaptation_.learn(this->step_, std::span<const T>(z_.position), metric_) == Result::window_goes_on)
        return;
    step_size_ = first_step_size_;
    count_ = 0;
}

// theta* = theta + e / sqrt(d) N(0, M^-1), accepted with probability min(1, exp((U - U*) / T))
template <Real T>
StepStatistics MetropolisChain<T>::step() {
    Random random = this->random();
    StepStatistics s;
    s.step_size = step_size_;
    metric_.draw_velocity(random, trial_);
    const T scale = static_cast<T>(step_size_ / std::sqrt(static_cast<double>(this->size())));
    for (std::size_t i = 0; i < trial_.size(); ++i) trial_[i] = z_.position[i] + scale * trial_[i];
    const Energy energy = this->potential_->evaluate(trial_, {});
    const double rise = energy_difference(energy, z_.energy) * this->beta();
    s.invalid = !std::isfinite(rise);
    s.acceptance = s.invalid ? 0 : acceptance_probability(rise);
    if (random.uniform<double>() < s.acceptance) {
        std::swap(z_.position, trial_);
        z_.energy = energy;
    }
    s.energy = z_.energy.total() * this->beta();
    if (adapts_ && this->step_ < this->warmup_steps_) adapt(s.acceptance);
    ++this->step_;
    return s;
}

template <Real T>
void MetropolisChain<T>::visit(StateVisitor& visitor) {
    detail::FullBatchChain<T>::visit(visitor);
    visitor.number("step_size", step_size_);
    metric_.visit(visitor);
    if (!adapts_) return;
    visitor.integer("step_size_count", count_);
    metric_adaptation_.visit(visitor);
}

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> Metropolis::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    check_positive(name, "step_size", step_size);
    WindowSizes{first, window, last}.check(std::string(name) + ": ", adapt && metric != MetricKind::unit);
    if (target_acceptance) check_fraction(name, "target_acceptance", *target_acceptance);
    return std::make_unique<MetropolisChain<T>>(*this, std::move(potential), std::move(start));
}

std::string Metropolis::describe() const {
    return describe_options(name,
                            {{"step_size", to_text(step_size)},
                             {"target_acceptance", target_acceptance ? to_text(*target_acceptance) : "by dimension"},
                             {"metric", to_string(metric)},
                             {"inverse_metric", numbers_text(inverse_metric)},
                             {"adapt", adapt ? "yes" : "no"},
                             {"first", to_text(first)},
                             {"window", to_text(window)},
                             {"last", to_text(last)}});
}

double Metropolis::state_bytes(std::int64_t size, std::size_t number) const {
    return vector_bytes(5, size, number) + detail::metric_bytes(metric, size, number, adapt);
}

POLLEN_INSTANTIATE_SAMPLER(Metropolis)

}  // namespace pollen
