#pragma once

#include <pollen/autograd/streams.hpp>
#include <pollen/nn/training/schedule.hpp>
#include <pollen/samplers/detail/instantiate.hpp>
#include <pollen/samplers/minibatch/detail/batch_gradient.hpp>
#include <pollen/samplers/minibatch/stochastic_chain.hpp>
#include <pollen/samplers/start.hpp>

#include <functional>

namespace pollen::detail {

// The step size of a step. A user's own schedule may return anything, so it is checked.
inline double step_size_at(const char* sampler, const Schedule& schedule, std::int64_t step) {
    const double e = schedule(step);
    check_option(e >= 0 && !std::isinf(e), sampler, "step_size", to_text(e) + " at step " + std::to_string(step),
                 "be finite and not negative");
    return e;
}

// The facts of a sampler without acceptance. If the step size changes, draws are weighted by it.
inline ChainFacts facts_of(const Schedule& schedule, double step_size) {
    return {.acceptance = false, .weighted = !schedule.constant(), .step_size = step_size};
}

// What the chains of the stochastic-gradient samplers share: a position and the gradient there. A step writes the new
// position to next_ and calls arrive().
template <Real T>
class StochasticWalk : public StochasticChain<T> {
  public:
    std::span<const T> position() const override { return position_; }
    std::int64_t steps() const override { return steps_; }
    std::span<const T> gradient() const override { return gradient_; }
    ChainFacts facts() const override { return {.acceptance = false}; }

    std::int64_t refresh() override {
        gradients_.begin(steps_);
        gradients_.refresh();
        energy_ = gradients_(position_, gradient_);
        return gradients_.count;
    }
    void add_quadratic(std::int64_t first, std::int64_t count, double by, double constant) override {
        energy_.prior += quadratic(first, count, by) + constant;
        add_multiple<T>(position_, first, count, by, gradient_);
        gradients_.add_quadratic(first, count, by);
    }

    void visit(StateVisitor& visitor) override {
        visitor.integer("steps", steps_);
        visitor.vector("position", position_);
        visitor.vector("gradient", gradient_);
        visitor.number("prior", energy_.prior);
        visitor.number("likelihood", energy_.likelihood);
        gradients_.visit(visitor);
    }

  protected:
    StochasticWalk(const char* sampler, std::unique_ptr<Potential<T>> potential, ChainStart<T> start,
                   std::int64_t batch, ControlVariate control_variate = {})
        : potential_((check_start(sampler, potential.get(), start), std::move(potential))),
          seed_(start.seed),
          chain_(start.chain),
          warmup_(start.warmup),
          check_stop_(std::move(start.check_stop)),
          position_(std::move(start.position)),
          next_(position_.size()),
          gradient_(position_.size()),
          gradients_(sampler, *potential_, seed_, chain_, batch, control_variate) {
        gradients_.begin(0);
        energy_ = gradients_.arrive(position_, gradient_);
        if (std::isinf(energy_.total()))
            throw ValueError(std::string(sampler) + ": the energy is " + to_text(energy_.total()) +
                             " at the start; it must be finite");
        if (std::isnan(energy_.total()))
            throw ValueError(std::string(sampler) + ": the energy or its gradient is not finite at the start");
    }

    std::int64_t size() const { return std::ssize(position_); }
    // by |theta_k|^2 / 2
    double quadratic(std::int64_t first, std::int64_t count, double by) const {
        const auto block =
            std::span<const T>(position_).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
        return by / 2 * kernels::dot_in_double<T>(block, block);
    }
    double temperature() const { return potential_->temperature(); }
    // The random numbers of this step.
    RandomKey key() const { return random_of(seed_, chain_, steps_).key(); }

    // Ends a step: moves to next_ if that position (`finite`), its energy and its gradient are finite, and stays
    // otherwise. The gradient at the end is on the first batch of the next step. Returns whether it moved; next_ is
    // free then.
    bool arrive(bool finite, StepStatistics& statistics) {
        gradients_.begin(++steps_);
        bool drawn = false;
        if (finite) {
            const Energy energy = gradients_.arrive(next_, gradient_);
            drawn = true;
            finite = std::isfinite(energy.total());
            if (finite) energy_ = energy;
        }
        if (finite)
            std::swap(position_, next_);
        else
            energy_ = drawn ? gradients_.on_same_batch(position_, gradient_) : gradients_(position_, gradient_);
        statistics.invalid = !finite;
        report(statistics);
        return finite;
    }

    // Ends a step without moving.
    void stay(StepStatistics& statistics) {
        gradients_.begin(++steps_);
        energy_ = gradients_(position_, gradient_);
        report(statistics);
    }

    void report(StepStatistics& statistics) const {
        statistics.gradients += gradients_.count;
        if (temperature() > 0) statistics.energy = energy_.total() / temperature();
    }

    std::unique_ptr<Potential<T>> potential_;
    std::uint64_t seed_;
    std::uint32_t chain_;
    std::int64_t warmup_;
    std::function<void()> check_stop_;  // see ChainStart
    std::int64_t steps_ = 0;
    std::vector<T> position_, next_, gradient_;
    Energy energy_;  // U~ at the position, on the batch of the gradient
    BatchGradient<T> gradients_;
};

// The same, with momenta v.
template <Real T>
class MomentumWalk : public StochasticWalk<T> {
  public:
    std::span<const T> momentum() const override { return v_; }

    void visit(StateVisitor& visitor) override {
        StochasticWalk<T>::visit(visitor);
        visitor.vector("momentum", v_);
    }

  protected:
    using StochasticWalk<T>::StochasticWalk;

    // v ~ N(0, variance), for the start.
    void draw_momentum(double variance) {
        v_.assign(this->position_.size(), T(0));
        const RandomKey key{this->seed_, stream_of(Purpose::starts, this->chain_)};
        if (variance > 0) fill_normal(key, 0, v_, T(0), static_cast<T>(std::sqrt(variance)));
    }

    // If the step is not made, the momentum changes its sign, or is 0 if the new position was not finite.
    bool arrive(bool finite, StepStatistics& statistics) {
        if (StochasticWalk<T>::arrive(finite, statistics)) return true;
        for (T& x : v_) x = finite ? -x : T(0);
        return false;
    }

    std::vector<T> v_;
};

}  // namespace pollen::detail
