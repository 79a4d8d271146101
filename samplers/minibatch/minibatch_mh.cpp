#include <pollen/samplers/minibatch/minibatch_mh.hpp>

#include <pollen/samplers/acceptance.hpp>
#include <pollen/samplers/minibatch/detail/stochastic_walk.hpp>

namespace pollen {

namespace {

constexpr const char* name = "ApproximateMinibatchMala";

template <Real T>
class MinibatchMalaChain final : public detail::StochasticWalk<T> {
  public:
    MinibatchMalaChain(const ApproximateMinibatchMala& options, std::unique_ptr<Potential<T>> potential,
                       ChainStart<T> start)
        : detail::StochasticWalk<T>(name, std::move(potential), std::move(start), options.batch),
          e_(options.step_size),
          proposed_(this->position_.size()) {
        check_positive(name, "step_size", e_);
        check_positive(name, "the temperature", this->temperature());
    }

    StepStatistics step() override {
        StepStatistics statistics;
        statistics.step_size = e_;
        const double variance = e_ * this->temperature();
        if (!kernels::langevin_step<T>(this->position_, this->gradient_, e_, variance, this->key(), this->next_)) {
            statistics.acceptance = 0;
            this->arrive(false, statistics);
            return statistics;
        }
        this->gradients_.begin(this->steps_);
        this->gradients_.draw();
        const Energy energy = this->gradients_.on_same_batch(this->next_, proposed_);
        statistics.gradients = this->gradients_.count;
        statistics.acceptance =
            acceptance_probability((energy_difference(energy, this->energy_) - proposal_ratio()) / this->temperature());
        Random random = random_of(this->seed_, this->chain_, this->steps_);
        if (random.uniform<double>() < statistics.acceptance) {
            this->arrive(true, statistics);
        } else {
            this->stay(statistics);
            statistics.invalid = !std::isfinite(energy.total());
        }
        return statistics;
    }

    ChainFacts facts() const override { return {.step_size = e_}; }

  private:
    // T log q(theta | theta*) / q(theta* | theta) = (|f|^2 - |b|^2) / (2e) with f = d + e/2 g, b = -d + e/2 g* and
    // d = theta* - theta, which is (f - b) . (f + b) / (2e) = (g + g*) . (d + e/4 (g - g*)) / 2.
    double proposal_ratio() const {
        double sum = 0;
        for (std::size_t i = 0; i < proposed_.size(); ++i) {
            const double g = static_cast<double>(this->gradient_[i]), back = static_cast<double>(proposed_[i]);
            const double d = static_cast<double>(this->next_[i]) - static_cast<double>(this->position_[i]);
            sum += (g + back) * (d + e_ / 4 * (g - back));
        }
        return sum / 2;
    }

    double e_;
    std::vector<T> proposed_;  // the gradient at theta*
};

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> ApproximateMinibatchMala::begin(std::unique_ptr<Potential<T>> potential,
                                                          ChainStart<T> start) const {
    return std::make_unique<MinibatchMalaChain<T>>(*this, std::move(potential), std::move(start));
}

std::string ApproximateMinibatchMala::describe() const {
    return describe_options(name, {{"step_size", to_text(step_size)}, {"batch", to_text(batch)}});
}

POLLEN_INSTANTIATE_SAMPLER(ApproximateMinibatchMala)

}  // namespace pollen
