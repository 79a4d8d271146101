#include <pollen/samplers/full_batch/tempering.hpp>

#include <pollen/samplers/full_batch/detail/hamiltonian.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

constexpr const char* name = "Tempering";

template <Real T>
struct Rung {
    double beta = 1;
    double step_size = 1;
    detail::Phase<T> z, before;  // before: where the present step has begun, once it has moved
    bool moved = false;
    double acceptance = 0;  // of the present step
    DualAveraging averaging;
};

// Puts the number of a rung before every name.
class RungVisitor final : public StateVisitor {
  public:
    RungVisitor(StateVisitor& to, std::size_t rung) : to_(to), prefix_("rung" + std::to_string(rung) + "_") {}
    void number(const char* what, double& x) override { to_.number((prefix_ + what).c_str(), x); }
    void integer(const char* what, std::int64_t& n) override { to_.integer((prefix_ + what).c_str(), n); }
    void vector(const char* what, std::vector<float>& x) override { to_.vector((prefix_ + what).c_str(), x); }
    void vector(const char* what, std::vector<double>& x) override { to_.vector((prefix_ + what).c_str(), x); }

  private:
    StateVisitor& to_;
    std::string prefix_;
};

// What one rung did in a step.
struct Move {
    double acceptance = 0;
    std::int64_t gradients = 0;
    bool invalid = false;
};

template <Real T>
class TemperingChain final : public detail::FullBatchChain<T> {
  public:
    TemperingChain(const Tempering& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start);

    StepStatistics step() override;
    std::span<const T> position() const override { return rungs_[0].z.position; }
    std::span<const T> gradient() const override {
        return options_.kernel == Tempering::Kernel::hmc ? std::span<const T>(rungs_[0].z.gradient)
                                                         : std::span<const T>();
    }
    void visit(StateVisitor& visitor) override;
    ChainFacts facts() const override {
        return {.target_acceptance = adapts_ ? target_ : std::numeric_limits<double>::quiet_NaN(),
                .step_size = rungs_[0].step_size};
    }

  private:
    Move hmc(Rung<T>& rung, std::int64_t steps, Random& random);
    Move metropolis(Rung<T>& rung, std::int64_t steps, Random& random);
    void accept(Rung<T>& rung);
    void adapt();
    void swap(Random& random);

    Tempering options_;
    bool adapts_;
    double target_;
    Metric<T> metric_;
    std::vector<Rung<T>> rungs_;
    detail::Phase<T> trial_;
};

template <Real T>
TemperingChain<T>::TemperingChain(const Tempering& options, std::unique_ptr<Potential<T>> potential,
                                  ChainStart<T> start)
    : detail::FullBatchChain<T>(name, std::move(potential), std::move(start)),
      options_(options),
      adapts_(options.adapt && this->warmup_steps_ > 0),
      target_(options.target_acceptance.value_or(
          options.kernel == Tempering::Kernel::hmc ? 0.8 : random_walk_target(this->size()))),
      metric_(MetricKind::unit, this->size()),
      rungs_(options.temperatures.size()) {
    if (options.kernel == Tempering::Kernel::hmc) this->need_gradient();
    for (std::size_t k = 0; k < rungs_.size(); ++k) {
        Rung<T>& rung = rungs_[k];
        rung.beta = this->beta() / options.temperatures[k];
        rung.step_size = options.step_size * std::sqrt(options.temperatures[k]);
        rung.z = rung.before = this->z_;
        rung.averaging = DualAveraging(target_, {});
        rung.averaging.restart(rung.step_size);
    }
    trial_ = this->z_;
}

template <Real T>
Move TemperingChain<T>::hmc(Rung<T>& rung, std::int64_t steps, Random& random) {
    detail::Phase<T>& z = rung.z;
    metric_.draw_momentum(random, z.momentum);
    z.kinetic = metric_.kinetic(z.momentum.data(), z.momentum.data());
    const detail::Trajectory way =
        detail::trajectory(*this->potential_, metric_, rung.beta, rung.step_size, steps, z, trial_, this->check_stop_);
    const Move move{way.acceptance(), way.gradients, way.invalid};
    if (random.uniform<double>() < move.acceptance) accept(rung);
    return move;
}

template <Real T>
Move TemperingChain<T>::metropolis(Rung<T>& rung, std::int64_t steps, Random& random) {
    detail::Phase<T>& z = rung.z;
    const T scale = static_cast<T>(rung.step_size);
    Move move;
    for (std::int64_t k = 0; k < steps; ++k) {
        this->check_stop();
        random.fill_normal(trial_.position);
        for (std::size_t i = 0; i < z.position.size(); ++i)
            trial_.position[i] = z.position[i] + scale * trial_.position[i];
        trial_.energy = this->potential_->evaluate(trial_.position, {});
        const double rise = energy_difference(trial_.energy, z.energy) * rung.beta;
        const bool invalid = !std::isfinite(rise);
        const double acceptance = invalid ? 0 : acceptance_probability(rise);
        move.invalid = move.invalid || invalid;
        move.acceptance += acceptance / static_cast<double>(steps);
        if (random.uniform<double>() < acceptance) accept(rung);
    }
    return move;
}

// Moves the rung to the trial point, and keeps where the step has begun. Nothing is copied.
template <Real T>
void TemperingChain<T>::accept(Rung<T>& rung) {
    std::swap(rung.z, trial_);
    if (!rung.moved) std::swap(rung.before, trial_);
    rung.moved = true;
}

template <Real T>
void TemperingChain<T>::swap(Random& random) {
    for (std::size_t k = static_cast<std::size_t>(this->step_ % 2); k + 1 < rungs_.size(); k += 2) {
        Rung<T>&a = rungs_[k], &b = rungs_[k + 1];
        const double log_ratio = (a.beta - b.beta) * energy_difference(a.z.energy, b.z.energy);
        if (random.uniform<double>() < acceptance_probability(-log_ratio)) std::swap(a.z, b.z);
    }
}

// Adapts all rungs in the warm-up.
template <Real T>
void TemperingChain<T>::adapt() {
    if (!adapts_ || this->step_ >= this->warmup_steps_) return;
    for (Rung<T>& rung : rungs_) {
        rung.step_size = rung.averaging.learn(rung.acceptance);
        if (this->step_ == this->warmup_steps_ - 1) rung.step_size = rung.averaging.average();
    }
}

template <Real T>
StepStatistics TemperingChain<T>::step() {
    Random random = this->random();
    const std::int64_t steps = options_.steps.draw(random);
    StepStatistics s;
    s.step_size = rungs_[0].step_size;
    for (Rung<T>& rung : rungs_) rung.moved = false;
    try {
        for (Rung<T>& rung : rungs_) {
            const Move move =
                options_.kernel == Tempering::Kernel::hmc ? hmc(rung, steps, random) : metropolis(rung, steps, random);
            rung.acceptance = move.acceptance;
            s.gradients += move.gradients;
            s.invalid = s.invalid || move.invalid;
        }
    } catch (...) {
        for (Rung<T>& rung : rungs_)
            if (rung.moved) std::swap(rung.z, rung.before);
        throw;
    }
    s.acceptance = rungs_[0].acceptance;
    adapt();
    swap(random);
    s.energy = rungs_[0].z.energy.total() * rungs_[0].beta;
    ++this->step_;
    return s;
}

template <Real T>
void TemperingChain<T>::visit(StateVisitor& visitor) {
    visitor.integer("step", this->step_);
    for (std::size_t k = 0; k < rungs_.size(); ++k) {
        Rung<T>& rung = rungs_[k];
        RungVisitor at(visitor, k);
        at.vector("position", rung.z.position);
        at.vector("gradient", rung.z.gradient);
        at.number("prior", rung.z.energy.prior);
        at.number("likelihood", rung.z.energy.likelihood);
        at.number("step_size", rung.step_size);
        if (adapts_) rung.averaging.visit(at);
    }
}

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> Tempering::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    const std::string who = name;
    check_positive(name, "step_size", step_size);
    if (temperatures.empty() || temperatures[0] != 1)
        throw ValueError(who + ": temperatures is " + numbers_text(temperatures) + "; the first must be 1");
    for (std::size_t k = 1; k < temperatures.size(); ++k)
        if (!(temperatures[k] > temperatures[k - 1]) || std::isinf(temperatures[k]))
            throw ValueError(who + ": temperatures is " + numbers_text(temperatures) + "; it must rise");
    if (steps.low < 1 || steps.high < steps.low)
        throw ValueError(who + ": steps is " + steps.describe() + "; it must be from 1 up, and a range must rise");
    if (target_acceptance) check_fraction(name, "target_acceptance", *target_acceptance);
    return std::make_unique<TemperingChain<T>>(*this, std::move(potential), std::move(start));
}

std::string Tempering::describe() const {
    return describe_options(name, {{"temperatures", numbers_text(temperatures)},
                                   {"kernel", kernel == Kernel::hmc ? "hmc" : "metropolis"},
                                   {"step_size", to_text(step_size)},
                                   {"steps", steps.describe()},
                                   {"target_acceptance", target_acceptance ? to_text(*target_acceptance) : "by kernel"},
                                   {"adapt", adapt ? "yes" : "no"}});
}

double Tempering::state_bytes(std::int64_t size, std::size_t number) const {
    // Two points of phase space a rung, and two more.
    return vector_bytes(8 * static_cast<double>(temperatures.size() + 1), size, number);
}

POLLEN_INSTANTIATE_SAMPLER(Tempering)

}  // namespace pollen
