#include <pollen/samplers/minibatch/naive_sghmc.hpp>

#include <pollen/samplers/acceptance.hpp>
#include <pollen/samplers/minibatch/detail/stochastic_walk.hpp>

namespace pollen {

namespace {

template <Real T>
class NaiveSghmcChain final : public detail::MomentumWalk<T> {
  public:
    NaiveSghmcChain(const NaiveSghmc& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : detail::MomentumWalk<T>("NaiveSghmc", std::move(potential), std::move(start), options.batch),
          options_(options) {
        check_positive("NaiveSghmc", "step_size", options_.step_size);
        check_option(options_.length > 0, "NaiveSghmc", "length", to_text(options_.length), "be positive");
        check_positive("NaiveSghmc", "the temperature", this->temperature());
        this->draw_momentum(options_.step_size * this->temperature());
        if (options_.metropolis) whole_ = this->potential_->evaluate(this->position_, {});
    }

    StepStatistics step() override {
        StepStatistics statistics;
        const double h = statistics.step_size = options_.step_size;
        Random random = random_of(this->seed_, this->chain_, this->steps_);
        random.fill_normal(this->v_, T(0), static_cast<T>(std::sqrt(h * this->temperature())));
        if (options_.metropolis) drawn_ = this->v_;
        const double before = kernels::dot_in_double<T>(this->v_, this->v_);
        const bool finite = travel(h);
        statistics.gradients = this->gradients_.count;
        if (!options_.metropolis) {
            this->arrive(finite, statistics);
            return statistics;
        }
        correct(finite, h, before, random, statistics);
        statistics.energy = whole_.total() / this->temperature();
        return statistics;
    }

    ChainFacts facts() const override { return {.acceptance = options_.metropolis, .step_size = options_.step_size}; }

    std::int64_t refresh() override {
        if (options_.metropolis) whole_ = this->potential_->evaluate(this->position_, {});
        return detail::MomentumWalk<T>::refresh();
    }
    void add_quadratic(std::int64_t first, std::int64_t count, double by, double constant) override {
        whole_.prior += this->quadratic(first, count, by) + constant;
        detail::MomentumWalk<T>::add_quadratic(first, count, by, constant);
    }

    void visit(StateVisitor& visitor) override {
        detail::MomentumWalk<T>::visit(visitor);
        visitor.number("whole_prior", whole_.prior);
        visitor.number("whole_likelihood", whole_.likelihood);
    }

  private:
    // a = min(1, exp(-(dU + d(v.v) / (2h)) / T)), and 0 if the trajectory was not finite. After a rejection the
    // momentum is the one that was drawn.
    void correct(bool finite, double h, double before, Random& random, StepStatistics& statistics) {
        const Energy energy = finite ? this->potential_->evaluate(this->next_, {})
                                     : Energy{.prior = std::numeric_limits<double>::quiet_NaN()};
        const double after = kernels::dot_in_double<T>(this->v_, this->v_);
        statistics.acceptance = acceptance_probability(
            (energy_difference(energy, whole_) + (after - before) / (2 * h)) / this->temperature());
        if (random.uniform<double>() < statistics.acceptance) {
            if (this->arrive(true, statistics)) whole_ = energy;
        } else {
            this->v_ = drawn_;
            this->stay(statistics);
            statistics.invalid = !std::isfinite(energy.total());
        }
    }

    // leapfrog(), after which the gradient is the old one if it is stopped. The momentum needs no such care, since each
    // step draws a new one.
    bool travel(double h) {
        if (this->check_stop_) old_gradient_ = this->gradient_;
        try {
            return leapfrog(h);
        } catch (...) {
            if (this->check_stop_) std::swap(this->gradient_, old_gradient_);
            throw;
        }
    }

    // Kicks of h/2, h, ..., h, h/2, between them L drifts. The first gradient is there, the batches follow its own.
    bool leapfrog(double h) {
        this->gradients_.begin(this->steps_);
        this->gradients_.draw();
        std::copy(this->position_.begin(), this->position_.end(), this->next_.begin());
        const std::int64_t length = options_.length;
        for (std::int64_t k = 0; k < length; ++k) {
            if (!kernels::momentum_step<T>(this->next_, this->gradient_, 1, k == 0 ? h / 2 : h, 0, {}, {}, this->v_,
                                           this->next_))
                return false;
            if (this->check_stop_) this->check_stop_();
            if (!std::isfinite(this->gradients_(this->next_, this->gradient_).total())) return false;
        }
        const T half = static_cast<T>(h / 2);
        for (std::size_t i = 0; i < this->v_.size(); ++i) this->v_[i] -= half * this->gradient_[i];
        return true;
    }

    NaiveSghmc options_;
    std::vector<T> drawn_;         // the momentum that a trajectory began with
    std::vector<T> old_gradient_;  // from before the step
    Energy whole_;                 // U over all items at the position, for the Metropolis correction
};

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> NaiveSghmc::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    return std::make_unique<NaiveSghmcChain<T>>(*this, std::move(potential), std::move(start));
}

std::string NaiveSghmc::describe() const {
    return describe_options("NaiveSghmc", {{"step_size", to_text(step_size)},
                                           {"length", to_text(length)},
                                           {"batch", to_text(batch)},
                                           {"metropolis", metropolis ? "true" : "false"}});
}

POLLEN_INSTANTIATE_SAMPLER(NaiveSghmc)

}  // namespace pollen
