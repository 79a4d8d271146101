#include <pollen/samplers/minibatch/cyclical.hpp>

#include <pollen/nn/training/schedule.hpp>
#include <pollen/samplers/minibatch/detail/stochastic_walk.hpp>

#include <algorithm>

namespace pollen {

namespace {

std::int64_t length_of(const Cyclical& options) { return (options.steps + options.cycles - 1) / options.cycles; }

// Whether step t is one with noise.
bool samples(const Cyclical& options, std::int64_t t) {
    const std::int64_t length = length_of(options);
    return static_cast<double>(t % length) >= options.exploration * static_cast<double>(length);
}

// Whether the position after t steps has a weight.
bool counts(const Cyclical& options, std::int64_t t) { return t % length_of(options) > 0 && samples(options, t - 1); }

template <Real T>
class CyclicalChain final : public detail::MomentumWalk<T> {
  public:
    CyclicalChain(const Cyclical& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : detail::MomentumWalk<T>("Cyclical", std::move(potential), std::move(start), options.batch),
          options_(options),
          schedule_(Schedule::cyclical_cosine(options.step_size, options.steps, options.cycles)) {
        if (hamiltonian()) this->v_.assign(this->position_.size(), T(0));
    }

    StepStatistics step() override {
        StepStatistics statistics;
        const double e = statistics.step_size = schedule_(this->steps_);
        const double temperature = samples(options_, this->steps_) ? this->temperature() : 0;
        bool finite;
        if (hamiltonian()) {
            const double variance = 2 * e * options_.friction * temperature;
            finite = kernels::momentum_step<T>(this->position_, this->gradient_, 1 - options_.friction, e, variance, {},
                                               this->key(), this->v_, this->next_);
        } else {
            finite = kernels::langevin_step<T>(this->position_, this->gradient_, e, e * temperature, this->key(),
                                               this->next_);
        }
        this->arrive(finite, statistics);
        return statistics;
    }

    double weight() const override { return counts(options_, this->steps_) ? schedule_(this->steps_) : 0; }
    ChainFacts facts() const override { return detail::facts_of(schedule_, schedule_(this->steps_)); }

  private:
    bool hamiltonian() const { return options_.dynamics == Cyclical::Dynamics::hamiltonian; }

    Cyclical options_;
    Schedule schedule_;
};

void check(const Cyclical& options) {
    check_positive("Cyclical", "step_size", options.step_size);
    check_option(options.steps > 0, "Cyclical", "steps", to_text(options.steps), "be positive");
    check_option(options.cycles > 0, "Cyclical", "cycles", to_text(options.cycles), "be positive");
    check_option(options.exploration >= 0 && options.exploration < 1, "Cyclical", "exploration",
                 to_text(options.exploration), "be at least 0 and below 1");
    check_option(options.friction > 0 && options.friction <= 1, "Cyclical", "friction", to_text(options.friction),
                 "be above 0 and at most 1");
    const std::int64_t length = length_of(options);
    if (!counts(options, length - 1))
        throw ValueError("Cyclical: a cycle of " + to_text(length) + " steps (.steps = " + to_text(options.steps) +
                         ", .cycles = " + to_text(options.cycles) + ") has less than two after the exploration, " +
                         to_text(options.exploration) + " of it, so none of its positions counts; longer cycles are " +
                         "needed");
}

// A run whose draws all have weight 0 is of no use to anybody. Cycles repeat, and so does the place of draws in them:
// after `length` draws at the latest.
template <Real T>
void check_draws(const Cyclical& options, const ChainStart<T>& start) {
    if (start.draws < 1) return;
    const std::int64_t length = length_of(options), run = start.warmup + start.draws * start.thin;
    for (std::int64_t k = 1; k <= std::min(start.draws, length); ++k)
        if (counts(options, start.warmup + k * start.thin)) return;
    if (run < options.steps)
        throw ValueError(
            "Cyclical: all draws fall into the exploration part: Cyclical has .steps = " + to_text(options.steps) +
            ", the run has " + to_text(run) + "; set .steps to warmup + draws * thin, or make cycles shorter");
    throw ValueError("Cyclical: all draws fall into the exploration part of cycles of " + to_text(length) +
                     " steps: one every " + to_text(start.thin) + " steps after " + to_text(start.warmup) +
                     " of warm-up; another thin or warmup is needed");
}

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> Cyclical::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    check(*this);
    check_draws(*this, start);
    return std::make_unique<CyclicalChain<T>>(*this, std::move(potential), std::move(start));
}

std::string Cyclical::describe() const {
    return describe_options("Cyclical", {{"step_size", to_text(step_size)},
                                         {"steps", to_text(steps)},
                                         {"cycles", to_text(cycles)},
                                         {"exploration", to_text(exploration)},
                                         {"dynamics", dynamics == Dynamics::langevin ? "langevin" : "hamiltonian"},
                                         {"friction", to_text(friction)},
                                         {"batch", to_text(batch)}});
}

POLLEN_INSTANTIATE_SAMPLER(Cyclical)

}  // namespace pollen
