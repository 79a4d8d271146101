#include <pollen/samplers/full_batch/hmc.hpp>

#include <pollen/samplers/full_batch/detail/hamiltonian.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

constexpr const char* name = "Hmc";
constexpr double divergence = 1000;  // a trajectory with a greater error of H is divergent

template <Real T>
class HmcChain final : public detail::HamiltonianChain<T> {
  public:
    HmcChain(const Hmc& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : detail::HamiltonianChain<T>(name, std::move(potential), std::move(start), options.step_size,
                                      options.target_acceptance, options.warmup, options.metric,
                                      options.inverse_metric),
          options_(options) {}

    StepStatistics step() override;
    void visit(StateVisitor& visitor) override;
    ChainFacts facts() const override {
        ChainFacts facts = detail::HamiltonianChain<T>::facts();
        facts.fresh_momentum = options_.alpha == 0;
        return facts;
    }

  private:
    void refresh(Random& random);
    detail::Trajectory travel(Random& random);
    std::int64_t length(Random& random) const;

    using detail::HamiltonianChain<T>::z_;
    using detail::HamiltonianChain<T>::trial_;
    using detail::HamiltonianChain<T>::metric_;

    Hmc options_;
    std::int64_t has_momentum_ = 0;  // 1 if there is a momentum that can be kept in part
    std::vector<T> old_momentum_;    // from before the step, if it is kept in part
};

// p' = alpha p + sqrt(1 - alpha^2) r
template <Real T>
void HmcChain<T>::refresh(Random& random) {
    if (options_.alpha > 0 && has_momentum_ != 0) {
        metric_.draw_momentum(random, trial_.momentum);
        const T keep = static_cast<T>(options_.alpha);
        const T fresh = static_cast<T>(std::sqrt(1 - options_.alpha * options_.alpha));
        for (std::size_t i = 0; i < z_.momentum.size(); ++i)
            z_.momentum[i] = keep * z_.momentum[i] + fresh * trial_.momentum[i];
    } else {
        metric_.draw_momentum(random, z_.momentum);
        has_momentum_ = 1;
    }
    metric_.velocity(z_.momentum.data(), z_.velocity.data());
    z_.kinetic = metric_.kinetic(z_.momentum.data(), z_.velocity.data());
}

template <Real T>
std::int64_t HmcChain<T>::length(Random& random) const {
    if (options_.steps.high > 0) return options_.steps.draw(random);
    const double n = std::round(options_.time.draw(random) / this->step_size_);
    if (n < 1) return 1;
    return n < static_cast<double>(options_.max_steps) ? static_cast<std::int64_t>(n) : options_.max_steps;
}

// Draws a momentum and makes a trajectory from there. If it is stopped, the momentum is again the one before.
template <Real T>
detail::Trajectory HmcChain<T>::travel(Random& random) {
    const std::int64_t had_momentum = has_momentum_;
    if (options_.alpha > 0) old_momentum_ = z_.momentum;
    try {
        refresh(random);
        return detail::trajectory(*this->potential_, metric_, this->beta(), this->step_size_, length(random), z_,
                                  trial_, this->check_stop_);
    } catch (...) {
        has_momentum_ = had_momentum;
        if (options_.alpha > 0) std::swap(z_.momentum, old_momentum_);
        throw;
    }
}

// p' = alpha p + sqrt(1 - alpha^2) r, r ~ N(0, M); a trajectory from (q, p') to (q*, p*); q* with probability
// min(1, exp(H - H*)), else q and -p'.
template <Real T>
StepStatistics HmcChain<T>::step() {
    Random random = this->random();
    this->prepare(random);
    StepStatistics s;
    s.step_size = this->step_size_;
    const detail::Trajectory way = travel(random);
    s.gradients = way.gradients;
    s.invalid = way.invalid;
    s.acceptance = way.acceptance();
    s.divergent = way.invalid || way.error > divergence;
    if (random.uniform<double>() < s.acceptance) {
        std::swap(z_, trial_);
    } else if (options_.alpha > 0) {
        for (T& p : z_.momentum) p = -p;
    }
    s.energy = z_.energy.total() * this->beta();
    s.hamiltonian = s.energy + z_.kinetic;
    if (this->adapt(random, s.acceptance)) has_momentum_ = 0;
    ++this->step_;
    return s;
}

template <Real T>
void HmcChain<T>::visit(StateVisitor& visitor) {
    detail::HamiltonianChain<T>::visit(visitor);
    if (options_.alpha > 0) {
        visitor.integer("has_momentum", has_momentum_);
        visitor.vector("momentum", z_.momentum);
    }
}

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> Hmc::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    check_positive(name, "step_size", step_size);
    if (steps.high > 0 || steps.low != 0) {
        if (steps.low < 1 || steps.high < steps.low)
            throw ValueError(std::string(name) + ": steps is " + steps.describe() +
                             "; it must be from 1 up, and a range must rise");
    } else if (!(time.low > 0) || !(time.high >= time.low) || std::isinf(time.high)) {
        throw ValueError(std::string(name) + ": time is " + time.describe() +
                         "; it must be positive, and a range must rise");
    }
    check_sizes(name, {{"max_steps", max_steps}});
    if (!(alpha >= 0 && alpha < 1))
        throw ValueError(std::string(name) + ": alpha is " + to_text(alpha) + "; it must be from 0 up and below 1");
    check_fraction(name, "target_acceptance", target_acceptance);
    warmup.check(name, metric);
    return std::make_unique<HmcChain<T>>(*this, std::move(potential), std::move(start));
}

std::string Hmc::describe() const {
    return describe_options(name, {{"step_size", to_text(step_size)},
                                   {"steps", steps.describe()},
                                   {"time", time.describe()},
                                   {"max_steps", to_text(max_steps)},
                                   {"alpha", to_text(alpha)},
                                   {"target_acceptance", to_text(target_acceptance)},
                                   {"metric", to_string(metric)},
                                   {"inverse_metric", numbers_text(inverse_metric)},
                                   {"warmup", warmup.describe()}});
}

double Hmc::state_bytes(std::int64_t size, std::size_t number) const {
    // Two points of phase space.
    return vector_bytes(8, size, number) + detail::metric_bytes(metric, size, number, warmup.metric);
}

POLLEN_INSTANTIATE_SAMPLER(Hmc)

}  // namespace pollen
