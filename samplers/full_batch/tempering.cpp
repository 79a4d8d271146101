#include <pollen/samplers/full_batch/tempering.hpp>

#include <pollen/autograd/support/detail/leading.hpp>
#include <pollen/samplers/full_batch/detail/shared_rungs.hpp>

#include <cmath>
#include <utility>

namespace pollen {

namespace {

constexpr const char* name = "Tempering";

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
    void adapt();
    void swap(Random random);

    Tempering options_;
    bool adapts_;
    double target_;
    std::vector<detail::Rung<T>> rungs_;
    std::vector<DualAveraging> averaging_;  // of each rung
    detail::SharedRungs<T> moves_;
};

template <Real T>
TemperingChain<T>::TemperingChain(const Tempering& options, std::unique_ptr<Potential<T>> potential,
                                  ChainStart<T> start)
    : detail::FullBatchChain<T>(name, std::move(potential), std::move(start)),
      options_(options),
      adapts_(options.adapt && this->warmup_steps_ > 0),
      target_(options.target_acceptance.value_or(
          options.kernel == Tempering::Kernel::hmc ? 0.8 : random_walk_target(this->size()))),
      rungs_(options.temperatures.size()),
      averaging_(rungs_.size(), DualAveraging(target_, {})),
      moves_(options, this->z_, this->check_stop_) {
    if (options.kernel == Tempering::Kernel::hmc) this->need_gradient();
    for (std::size_t k = 0; k < rungs_.size(); ++k) {
        detail::Rung<T>& rung = rungs_[k];
        rung.beta = this->beta() / options.temperatures[k];
        rung.step_size = options.step_size * std::sqrt(options.temperatures[k]);
        rung.z = rung.before = this->z_;
        averaging_[k].restart(rung.step_size);
    }
}

template <Real T>
void TemperingChain<T>::swap(Random random) {
    for (std::size_t k = static_cast<std::size_t>(this->step_ % 2); k + 1 < rungs_.size(); k += 2) {
        detail::Rung<T>&a = rungs_[k], &b = rungs_[k + 1];
        const double log_ratio = (a.beta - b.beta) * energy_difference(a.z.energy, b.z.energy);
        if (random.uniform<double>() < acceptance_probability(-log_ratio)) std::swap(a.z, b.z);
    }
}

// Adapts all rungs in the warm-up.
template <Real T>
void TemperingChain<T>::adapt() {
    if (!adapts_ || this->step_ >= this->warmup_steps_) return;
    for (std::size_t k = 0; k < rungs_.size(); ++k) {
        rungs_[k].step_size = averaging_[k].learn(rungs_[k].acceptance);
        if (this->step_ == this->warmup_steps_ - 1) rungs_[k].step_size = averaging_[k].average();
    }
}

template <Real T>
StepStatistics TemperingChain<T>::step() {
    StepStatistics s;
    s.step_size = rungs_[0].step_size;
    Random random = this->random();
    try {
        random = moves_.move(*this->potential_, {this->seed_, this->chain_, this->step_}, rungs_);
    } catch (...) {
        for (detail::Rung<T>& rung : rungs_) rung.undo();
        throw;
    }
    for (const detail::Rung<T>& rung : rungs_) {
        s.gradients += rung.gradients;
        s.invalid = s.invalid || rung.invalid;
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
        detail::Rung<T>& rung = rungs_[k];
        RungVisitor at(visitor, k);
        at.vector("position", rung.z.position);
        at.vector("gradient", rung.z.gradient);
        at.number("prior", rung.z.energy.prior);
        at.number("likelihood", rung.z.energy.likelihood);
        at.number("step_size", rung.step_size);
        if (adapts_) averaging_[k].visit(at);
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
    if (group && group->rank() > 0)
        throw ValueError(who +
                         ": rank 0 of the group has the chains; call run_chains(), or lead() with a function that "
                         "begins them, on all ranks");
    return std::make_unique<TemperingChain<T>>(*this, std::move(potential), std::move(start));
}

template <Real T>
void Tempering::lead(const Potential<T>& potential, const std::function<void()>& f) const {
    if (!group || group->size() == 1) return f();
    std::unique_ptr<Potential<T>> own;
    std::optional<detail::SharedRungs<T>> moves;
    group->together([&] {
        detail::Phase<T> trial;
        trial.resize(static_cast<std::size_t>(potential.size()));
        moves.emplace(*this, std::move(trial));
        own = potential.clone();
    });
    if (group->rank() > 0) return moves->serve(*own);
    detail::lead_group(*group, f, [&](bool failed) { moves->end(failed); });
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
template void Tempering::lead(const Potential<float>&, const std::function<void()>&) const;
template void Tempering::lead(const Potential<double>&, const std::function<void()>&) const;

}  // namespace pollen
