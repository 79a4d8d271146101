#include <pollen/samplers/minibatch/sgnht.hpp>

#include <pollen/samplers/minibatch/detail/stochastic_walk.hpp>

namespace pollen {

namespace {

template <Real T>
class SgnhtChain final : public detail::MomentumWalk<T> {
  public:
    SgnhtChain(const Sgnht& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : detail::MomentumWalk<T>("Sgnht", std::move(potential), std::move(start), options.batch),
          options_(options),
          friction_(options.friction) {
        check_positive("Sgnht", "step_size", options_.step_size(0));
        check_option(options_.friction >= 0, "Sgnht", "friction", to_text(options_.friction), "not be negative");
        check_option(options_.friction <= 1, "Sgnht", "friction", to_text(options_.friction), "not be above 1");
        check_positive("Sgnht", "mass", options_.mass);
        this->draw_momentum(options_.step_size(0) * this->temperature());
    }

    StepStatistics step() override {
        StepStatistics statistics;
        const double h = statistics.step_size = weight();
        const double variance = 2 * h * options_.friction * this->temperature();
        const bool finite = kernels::momentum_step<T>(this->position_, this->gradient_, 1 - friction_, h, variance, {},
                                                      this->key(), this->v_, this->next_);
        if (this->arrive(finite, statistics)) {
            const double kinetic = kernels::dot_in_double<T>(this->v_, this->v_) / static_cast<double>(this->v_.size());
            friction_ += (kinetic - h * this->temperature()) / options_.mass;
        }
        return statistics;
    }

    double weight() const override { return detail::step_size_at("Sgnht", options_.step_size, this->steps_); }
    ChainFacts facts() const override { return detail::facts_of(options_.step_size, weight()); }

    void visit(StateVisitor& visitor) override {
        detail::MomentumWalk<T>::visit(visitor);
        visitor.number("friction", friction_);
    }

  private:
    Sgnht options_;
    double friction_;  // x
};

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> Sgnht::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    return std::make_unique<SgnhtChain<T>>(*this, std::move(potential), std::move(start));
}

std::string Sgnht::describe() const {
    return describe_options("Sgnht", {{"step_size", step_size.describe()},
                                      {"friction", to_text(friction)},
                                      {"mass", to_text(mass)},
                                      {"batch", to_text(batch)}});
}

POLLEN_INSTANTIATE_SAMPLER(Sgnht)

}  // namespace pollen
