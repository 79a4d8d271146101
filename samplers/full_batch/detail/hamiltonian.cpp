#include <pollen/samplers/full_batch/detail/hamiltonian.hpp>

#include <algorithm>
#include <cmath>

namespace pollen::detail {

// Metric::open() makes the first half step of the momentum and the step of the position, Metric::close() the second
// half step of the momentum.
template <Real T>
void leapfrog(Potential<T>& potential, const Metric<T>& metric, double beta, double step_size, Phase<T>& z) {
    const T kick = static_cast<T>(step_size * beta / 2);
    metric.open(kick, static_cast<T>(step_size), z.gradient.data(), z.momentum.data(), z.position.data(),
                z.velocity.data());
    z.energy = potential.evaluate(z.position, z.gradient);
    z.kinetic = metric.close(kick, z.gradient.data(), z.momentum.data(), z.velocity.data());
}

template <Real T>
Trajectory trajectory(Potential<T>& potential, const Metric<T>& metric, double beta, double step_size,
                      std::int64_t steps, const Phase<T>& from, Phase<T>& to, const std::function<void()>& check_stop) {
    to.position = from.position;
    to.gradient = from.gradient;
    to.momentum = from.momentum;
    Trajectory result;
    for (; result.gradients < steps && !result.invalid; ++result.gradients) {
        if (check_stop) check_stop();
        leapfrog(potential, metric, beta, step_size, to);
        result.error = energy_difference(to.energy, from.energy) * beta + (to.kinetic - from.kinetic);
        result.invalid = !std::isfinite(result.error);
    }
    return result;
}

template <Real T>
HamiltonianChain<T>::HamiltonianChain(const char* name, std::unique_ptr<Potential<T>> potential, ChainStart<T> start,
                                      double step_size, double target, const WarmupOptions& warmup, MetricKind kind,
                                      const std::vector<double>& inverse_metric)
    : FullBatchChain<T>(name, std::move(potential), std::move(start)),
      step_size_(step_size),
      first_step_size_(step_size),
      metric_(kind, this->size()),
      warmup_(this->warmup_steps_, target, warmup, kind, this->size()),
      target_(target),
      gamma_(warmup.gamma),
      kappa_(warmup.kappa),
      t0_(warmup.t0) {
    this->need_gradient();
    if (!inverse_metric.empty()) metric_.set_inverse(inverse_metric, name);
    trial_.resize(this->z_.position.size());
}

template <Real T>
void HamiltonianChain<T>::visit(StateVisitor& visitor) {
    FullBatchChain<T>::visit(visitor);
    visitor.number("step_size", step_size_);
    metric_.visit(visitor);
    warmup_.visit(visitor);
    if (!warmup_.adapts_step_size()) return;
    visitor.integer("search_from", search_from_);
    check_saved_count("search_from", search_from_);
    if (search_from_ > 0 && (this->step_ == 0 || !warmup_.active(this->step_)))
        throw ValueError("search_from is " + to_text(search_from_) + ", but no step size is searched for at step " +
                         to_text(this->step_));
}

template <Real T>
void HamiltonianChain<T>::prepare(Random& random) {
    if (!warmup_.adapts_step_size()) return;
    if (this->step_ == 0) {
        step_size_ = find_step_size(random, first_step_size_);
    } else if (search_from_ > 0) {
        RandomState before = random_of(this->seed_, this->chain_, this->step_ - 1).state();
        before.drawn[normals<T>] = static_cast<std::uint64_t>(search_from_ - 1);
        Random rest(before);
        step_size_ = find_step_size(rest, step_size_);
        search_from_ = 0;
    } else {
        return;
    }
    warmup_.begin(step_size_);
}

template <Real T>
bool HamiltonianChain<T>::adapt(const Random& random, double acceptance) {
    if (!warmup_.active(this->step_)) return false;
    const bool changed =
        warmup_.learn(this->step_, acceptance, std::span<const T>(this->z_.position), step_size_, metric_);
    if (changed && warmup_.adapts_step_size())
        search_from_ = 1 + static_cast<std::int64_t>(random.state().drawn[normals<T>]);
    return changed;
}

// Doubles or halves the step size until the acceptance of a single leapfrog step, each time from a fresh momentum,
// crosses 0.8 (Hoffman & Gelman 2014, Algorithm 4, with the threshold that Stan has now).
template <Real T>
double HamiltonianChain<T>::find_step_size(Random& random, double step_size) {
    const Phase<T>& z = this->z_;
    const auto accepted = [&] {
        this->check_stop();
        trial_.position = z.position;
        trial_.gradient = z.gradient;
        metric_.draw_momentum(random, trial_.momentum);
        metric_.velocity(trial_.momentum.data(), trial_.velocity.data());
        const double before = metric_.kinetic(trial_.momentum.data(), trial_.velocity.data());
        leapfrog(step_size, trial_);
        return acceptance_probability(energy_difference(trial_.energy, z.energy) * this->beta() +
                                      (trial_.kinetic - before)) > 0.8;
    };
    const bool grow = accepted();
    while (accepted() == grow) {
        step_size *= grow ? 2 : 0.5;
        if (step_size > 1e7)
            throw ValueError(std::string(this->name_) +
                             ": steps of any size are accepted; the density does not fall off");
        if (!(step_size >= 1e-30))
            throw ValueError(std::string(this->name_) +
                             ": no step is small enough to be accepted; is the gradient that of the density?");
    }
    return step_size;
}

template void leapfrog(Potential<float>&, const Metric<float>&, double, double, Phase<float>&);
template void leapfrog(Potential<double>&, const Metric<double>&, double, double, Phase<double>&);
template Trajectory trajectory(Potential<float>&, const Metric<float>&, double, double, std::int64_t,
                               const Phase<float>&, Phase<float>&, const std::function<void()>&);
template Trajectory trajectory(Potential<double>&, const Metric<double>&, double, double, std::int64_t,
                               const Phase<double>&, Phase<double>&, const std::function<void()>&);
template class HamiltonianChain<float>;
template class HamiltonianChain<double>;

}  // namespace pollen::detail
