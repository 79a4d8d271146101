#include <pollen/samplers/minibatch/sgld.hpp>

#include <pollen/samplers/minibatch/detail/stochastic_walk.hpp>

namespace pollen {

namespace {

template <Real T>
class SgldChain final : public detail::StochasticWalk<T> {
  public:
    SgldChain(const Sgld& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : detail::StochasticWalk<T>("Sgld", std::move(potential), std::move(start), options.batch,
                                    options.control_variate),
          schedule_(options.step_size) {
        check_positive("Sgld", "step_size", schedule_(0));
    }

    // theta -= e/2 g~;  theta += N(0, e T)
    StepStatistics step() override {
        StepStatistics statistics;
        statistics.step_size = weight();
        const double variance = statistics.step_size * this->temperature();
        const bool finite = kernels::langevin_step<T>(this->position_, this->gradient_, statistics.step_size, variance,
                                                      this->key(), this->next_);
        this->arrive(finite, statistics);
        return statistics;
    }

    // The step that leaves the present position.
    double weight() const override { return detail::step_size_at("Sgld", schedule_, this->steps_); }
    ChainFacts facts() const override { return detail::facts_of(schedule_, weight()); }

  private:
    Schedule schedule_;
};

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> Sgld::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    return std::make_unique<SgldChain<T>>(*this, std::move(potential), std::move(start));
}

std::string Sgld::describe() const {
    return describe_options("Sgld", {{"step_size", step_size.describe()},
                                     {"batch", to_text(batch)},
                                     {"control_variate.every", to_text(control_variate.every)}});
}

POLLEN_INSTANTIATE_SAMPLER(Sgld)

}  // namespace pollen
