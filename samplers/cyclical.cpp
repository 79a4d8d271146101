#include <pollen/samplers/cyclical.hpp>

#include <pollen/nn/schedule.hpp>
#include <pollen/samplers/kernels/stochastic_walk.hpp>

namespace pollen {

namespace {

template <Real T>
class CyclicalChain final : public kernels::MomentumWalk<T> {
  public:
    CyclicalChain(const Cyclical& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : kernels::MomentumWalk<T>("Cyclical", std::move(potential), std::move(start), options.batch),
          options_(options),
          schedule_(Schedule::cyclical_cosine(options.step_size, options.steps, options.cycles)),
          length_((options.steps + options.cycles - 1) / options.cycles) {
        if (hamiltonian()) this->v_.assign(this->position_.size(), T(0));
    }

    StepStatistics step() override {
        StepStatistics statistics;
        const double e = statistics.step_size = schedule_(this->steps_);
        const double temperature = samples(this->steps_) ? this->temperature() : 0;
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

    double weight() const override {
        const std::int64_t t = this->steps_;
        return t > 0 && t % length_ > 0 && samples(t - 1) ? schedule_(t) : 0;
    }
    ChainFacts facts() const override { return kernels::facts_of(schedule_, schedule_(this->steps_)); }

  private:
    bool hamiltonian() const { return options_.dynamics == Cyclical::Dynamics::hamiltonian; }
    bool samples(std::int64_t t) const {
        return static_cast<double>(t % length_) >= options_.exploration * static_cast<double>(length_);
    }

    Cyclical options_;
    Schedule schedule_;
    std::int64_t length_;  // of a cycle
};

void check(const Cyclical& options) {
    kernels::check_positive("Cyclical", "step_size", options.step_size);
    kernels::check_option(options.steps > 0, "Cyclical", "steps", to_text(options.steps), "be positive");
    kernels::check_option(options.cycles > 0, "Cyclical", "cycles", to_text(options.cycles), "be positive");
    kernels::check_option(options.exploration >= 0 && options.exploration < 1, "Cyclical", "exploration",
                          to_text(options.exploration), "be at least 0 and below 1");
    kernels::check_option(options.friction > 0 && options.friction <= 1, "Cyclical", "friction",
                          to_text(options.friction), "be above 0 and at most 1");
}

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> Cyclical::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    check(*this);
    return std::make_unique<CyclicalChain<T>>(*this, std::move(potential), std::move(start));
}

std::string Cyclical::describe() const {
    return kernels::describe_options("Cyclical",
                                     {{"step_size", to_text(step_size)},
                                      {"steps", to_text(steps)},
                                      {"cycles", to_text(cycles)},
                                      {"exploration", to_text(exploration)},
                                      {"dynamics", dynamics == Dynamics::langevin ? "langevin" : "hamiltonian"},
                                      {"friction", to_text(friction)},
                                      {"batch", to_text(batch)}});
}

POLLEN_INSTANTIATE_SAMPLER(Cyclical)

}  // namespace pollen
