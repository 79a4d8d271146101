#include <pollen/samplers/full_batch/mala.hpp>

#include <pollen/samplers/full_batch/detail/hamiltonian.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

constexpr const char* name = "Mala";

// The step size of the base class is that of the leapfrog step, sqrt(e T).
template <Real T>
class MalaChain final : public detail::HamiltonianChain<T> {
  public:
    MalaChain(const Mala& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : detail::HamiltonianChain<T>(name, std::move(potential), std::move(start), 1, options.target_acceptance,
                                      options.warmup, options.metric, options.inverse_metric),
          e_(options.step_size),
          drift_(z_.position.size()),
          scratch_(z_.position.size()) {
        this->step_size_ = this->first_step_size_ = std::sqrt(e_ / this->beta());
    }

    StepStatistics step() override;
    void visit(StateVisitor& visitor) override {
        detail::HamiltonianChain<T>::visit(visitor);
        visitor.number("e", e_);
    }
    ChainFacts facts() const override {
        ChainFacts facts = detail::HamiltonianChain<T>::facts();
        facts.hamiltonian = false;
        facts.step_size = next_step_size();
        return facts;
    }

  private:
    double next_step_size() const {
        return this->warmup_.adapts_step_size() ? this->step_size_ * this->step_size_ * this->beta() : e_;
    }
    double log_density(const detail::Phase<T>& from, const detail::Phase<T>& to);

    using detail::HamiltonianChain<T>::z_;
    using detail::HamiltonianChain<T>::trial_;
    using detail::HamiltonianChain<T>::metric_;

    double e_;
    std::vector<T> drift_, scratch_;
};

// log q(to | from) = -|to - from + e/2 G grad U(from)|^2 / (2 e T), in the norm of G^-1, but for a constant
template <Real T>
double MalaChain<T>::log_density(const detail::Phase<T>& from, const detail::Phase<T>& to) {
    metric_.velocity(from.gradient.data(), drift_.data());
    const T half = static_cast<T>(e_ / 2);
    for (std::size_t i = 0; i < drift_.size(); ++i) drift_[i] = (to.position[i] - from.position[i]) + half * drift_[i];
    return -metric_.squared_length(drift_.data(), scratch_) * this->beta() / (2 * e_);
}

template <Real T>
StepStatistics MalaChain<T>::step() {
    Random random = this->random();
    this->prepare(random);
    e_ = next_step_size();
    StepStatistics s;
    s.step_size = e_;
    s.gradients = 1;
    metric_.velocity(z_.gradient.data(), drift_.data());
    metric_.draw_velocity(random, trial_.position);
    const T half = static_cast<T>(e_ / 2), noise = static_cast<T>(std::sqrt(e_ / this->beta()));
    for (std::size_t i = 0; i < drift_.size(); ++i)
        trial_.position[i] = z_.position[i] - half * drift_[i] + noise * trial_.position[i];
    trial_.energy = this->potential_->evaluate(trial_.position, trial_.gradient);
    const double log_ratio = -energy_difference(trial_.energy, z_.energy) * this->beta() +
                             (log_density(trial_, z_) - log_density(z_, trial_));
    s.invalid = !std::isfinite(log_ratio);
    s.acceptance = s.invalid ? 0 : acceptance_probability(-log_ratio);
    if (random.uniform<double>() < s.acceptance) std::swap(z_, trial_);
    s.energy = z_.energy.total() * this->beta();
    this->adapt(random, s.acceptance);
    ++this->step_;
    return s;
}

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> Mala::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    check_positive(name, "step_size", step_size);
    check_fraction(name, "target_acceptance", target_acceptance);
    warmup.check(name, metric);
    return std::make_unique<MalaChain<T>>(*this, std::move(potential), std::move(start));
}

std::string Mala::describe() const {
    return describe_options(name, {{"step_size", to_text(step_size)},
                                   {"target_acceptance", to_text(target_acceptance)},
                                   {"metric", to_string(metric)},
                                   {"inverse_metric", numbers_text(inverse_metric)},
                                   {"warmup", warmup.describe()}});
}

double Mala::state_bytes(std::int64_t size, std::size_t number) const {
    // Two points of phase space, and a drift.
    return vector_bytes(10, size, number) + detail::metric_bytes(metric, size, number, warmup.metric);
}

POLLEN_INSTANTIATE_SAMPLER(Mala)

}  // namespace pollen
