#pragma once

#include <pollen/data/sets/batch_draw.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/minibatch/control_variate.hpp>
#include <pollen/samplers/minibatch/kernels/noisy_pass.hpp>
#include <pollen/samplers/options.hpp>

namespace pollen::detail {

// to_k += by x_k, for `count` numbers from `first` on.
template <Real T>
void add_multiple(std::span<const T> x, std::int64_t first, std::int64_t count, double by, std::span<T> to) {
    for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(first + count); ++k)
        to[k] += static_cast<T>(by) * x[k];
}

// The gradients that a chain follows: of fresh batches, of all items, or of batches with a control variate. If a
// gradient is not finite, the energy that comes with it is NaN, so a chain has to look at the energy alone.
template <Real T>
class BatchGradient {
  public:
    // batch = 0: all items.
    BatchGradient(const char* sampler, Potential<T>& potential, std::uint64_t seed, std::uint32_t chain,
                  std::int64_t batch, ControlVariate control_variate)
        : potential_(potential), seed_(seed), chain_(chain), batch_(batch), every_(control_variate.every) {
        const std::int64_t items = potential.items();
        check_option(batch >= 0, sampler, "batch", std::to_string(batch), "not be negative");
        if (batch > 0 && items == 0)
            throw ValueError(std::string(sampler) + ": batch is " + std::to_string(batch) +
                             ", but the potential has no items to make batches of");
        if (batch > items)
            throw ValueError(std::string(sampler) + ": batch is " + std::to_string(batch) + ", but there are only " +
                             std::to_string(items) + " items");
        check_option(every_ >= 0, sampler, "control_variate.every", std::to_string(every_), "not be negative");
        if (every_ > 0 && full())
            throw ValueError(std::string(sampler) + ": a control variate is for batches, but batch is 0, all items");
    }

    bool full() const { return batch_ == 0 || batch_ == potential_.items(); }

    // The batches that follow are those of this step, one after the other.
    void begin(std::int64_t step) {
        step_ = step;
        random_ = batch_random_of(seed_, chain_, step);
        count = 0;
    }

    // U~ and its gradient at theta, on the next batch of this step.
    Energy operator()(std::span<const T> theta, std::span<T> gradient) {
        draw();
        return on_same_batch(theta, gradient);
    }
    // Takes the next batch without using it.
    void draw() {
        if (!full()) draw_(random_, batch_, potential_.items(), items_);
    }
    // The same on the batch that was drawn last.
    Energy on_same_batch(std::span<const T> theta, std::span<T> gradient) {
        ++count;
        if (full()) return checked(potential_.evaluate(theta, gradient), gradient);
        const Energy energy = potential_.evaluate(theta, gradient, items_);
        if (every_ > 0) reduce(gradient);
        return checked(energy, gradient);
    }

    // The same at a new position, which becomes the next anchor of the control variate if it is time for one. The
    // gradient of an anchor is that of all items, which it needs anyway.
    Energy arrive(std::span<const T> theta, std::span<T> gradient) {
        if (every_ == 0 || step_ % every_ != 0) return (*this)(theta, gradient);
        ++count;
        draw();
        const Energy energy = checked(potential_.evaluate(theta, gradient), gradient);
        if (!std::isfinite(energy.total())) return energy;
        anchor_.assign(theta.begin(), theta.end());
        anchor_gradient_.assign(gradient.begin(), gradient.end());
        return energy;
    }

    // Has to be called if the potential has changed.
    void refresh() {
        if (every_ == 0) return;
        ++count;
        potential_.evaluate(anchor_, anchor_gradient_);
    }
    // The same for a potential to which  by |theta_k|^2 / 2  was added, without a gradient.
    void add_quadratic(std::int64_t first, std::int64_t numbers, double by) {
        if (every_ > 0) add_multiple<T>(anchor_, first, numbers, by, anchor_gradient_);
    }

    void visit(StateVisitor& visitor) {
        if (every_ == 0) return;
        visitor.vector("anchor", anchor_);
        visitor.vector("anchor_gradient", anchor_gradient_);
    }

    std::int64_t count = 0;  // gradients in this step so far

  private:
    // The energy, or NaN if the gradient is not finite.
    static Energy checked(const Energy& energy, std::span<const T> gradient) {
        if (!std::isfinite(energy.total()) || kernels::all_finite(gradient)) return energy;
        return {.prior = std::numeric_limits<double>::quiet_NaN()};
    }

    // g += grad U(anchor) - grad U~(anchor)
    void reduce(std::span<T> gradient) {
        ++count;
        scratch_.resize(gradient.size());
        potential_.evaluate(anchor_, scratch_, items_);
        kernels::map(
            std::ssize(gradient), gradient.data(),
            [](const kernels::Batch<T>& g, const kernels::Batch<T>& whole, const kernels::Batch<T>& part) {
                return g + (whole - part);
            },
            kernels::Stream<T>{gradient.data()}, kernels::Stream<T>{anchor_gradient_.data()},
            kernels::Stream<T>{scratch_.data()});
    }

    Potential<T>& potential_;
    std::uint64_t seed_;
    std::uint32_t chain_;
    std::int64_t batch_, every_, step_ = 0;
    Random random_{0};
    BatchDraw draw_;
    std::vector<std::int64_t> items_;
    std::vector<T> anchor_, anchor_gradient_, scratch_;
};

}  // namespace pollen::detail
