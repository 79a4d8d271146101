#pragma once

#include <pollen/autograd/streams.hpp>
#include <pollen/samplers/minibatch/detail/batch_gradient.hpp>
#include <pollen/samplers/stochastic_chain.hpp>

namespace pollen::detail {

// The potential of a chain, if it and the start are fit for one.
template <Real T>
std::unique_ptr<Potential<T>> checked(const char* sampler, std::unique_ptr<Potential<T>> potential,
                                      const ChainStart<T>& start) {
    const std::string name = sampler;
    if (!potential) throw ValueError(name + ": there is no potential");
    if (potential->size() == 0) throw ValueError(name + ": the potential has no dimensions");
    if (std::ssize(start.position) != potential->size())
        throw ShapeError(name + ": the start has " + std::to_string(start.position.size()) +
                         " numbers; the potential has " + std::to_string(potential->size()));
    check_option(start.warmup >= 0, sampler, "warmup", to_text(start.warmup), "not be negative");
    return potential;
}

// What the chains of the stochastic-gradient samplers share: a position with its gradient. A step writes where it goes
// into next_ and calls arrive().
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
        : sampler_(sampler),
          potential_(checked(sampler, std::move(potential), start)),
          seed_(start.seed),
          chain_(start.chain),
          warmup_(start.warmup),
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

    // Ends a step: moves to next_ where that, its energy and its gradient are finite, and stays otherwise. The gradient
    // there is that of the first batch of the next step. Returns whether it moved; next_ is free then.
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

    const char* sampler_;
    std::unique_ptr<Potential<T>> potential_;
    std::uint64_t seed_;
    std::uint32_t chain_;
    std::int64_t warmup_;
    std::int64_t steps_ = 0;
    std::vector<T> position_, next_, gradient_;
    Energy energy_;  // U~ at the position, on the batch of the gradient
    BatchGradient<T> gradients_;
};

// The same with momenta v.
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

    // A step that leads nowhere turns round.
    bool arrive(bool finite, StepStatistics& statistics) {
        if (StochasticWalk<T>::arrive(finite, statistics)) return true;
        for (T& x : v_) x = finite ? -x : T(0);
        return false;
    }

    std::vector<T> v_;
};

}  // namespace pollen::detail
