#include <pollen/samplers/full_batch/detail/rungs.hpp>

#include <cmath>
#include <utility>

namespace pollen::detail {

template <Real T>
void Rung<T>::undo() {
    if (moved) std::swap(z, before);
    moved = false;
}

template <Real T>
RungKernel<T>::RungKernel(const Tempering& options, Phase<T> trial, std::function<void()> check_stop)
    : options_(options),
      metric_(MetricKind::unit, std::ssize(trial.position)),
      trial_(std::move(trial)),
      check_stop_(std::move(check_stop)),
      first_(0) {}

template <Real T>
void RungKernel<T>::begin(Random random) {
    steps_ = options_.steps.draw(random);
    first_ = random;
}

// A trajectory, or a Metropolis step, draws one normal a dimension and one uniform.
template <Real T>
Random RungKernel<T>::random(std::int64_t k) const {
    RandomState state = first_.state();
    const auto draws = static_cast<std::uint64_t>(by_gradients() ? k : k * steps_);
    state.drawn[normals<T>] += draws * trial_.position.size();
    state.drawn[static_cast<std::size_t>(RandomKind::uniform_double)] += draws;
    return Random(state);
}

template <Real T>
void RungKernel<T>::move(Potential<T>& potential, std::int64_t k, Rung<T>& rung) {
    rung.moved = rung.invalid = false;
    rung.acceptance = 0;
    rung.gradients = 0;
    if (by_gradients())
        hmc(potential, rung, random(k));
    else
        metropolis(potential, rung, random(k));
}

template <Real T>
void RungKernel<T>::hmc(Potential<T>& potential, Rung<T>& rung, Random random) {
    Phase<T>& z = rung.z;
    metric_.draw_momentum(random, z.momentum);
    z.kinetic = metric_.kinetic(z.momentum.data(), z.momentum.data());
    const Trajectory way = trajectory(potential, metric_, rung.beta, rung.step_size, steps_, z, trial_, check_stop_);
    rung.acceptance = way.acceptance();
    rung.gradients = way.gradients;
    rung.invalid = way.invalid;
    if (random.uniform<double>() < rung.acceptance) accept(rung);
}

template <Real T>
void RungKernel<T>::metropolis(Potential<T>& potential, Rung<T>& rung, Random random) {
    Phase<T>& z = rung.z;
    const T scale = static_cast<T>(rung.step_size);
    for (std::int64_t step = 0; step < steps_; ++step) {
        if (check_stop_) check_stop_();
        random.fill_normal(trial_.position);
        for (std::size_t i = 0; i < z.position.size(); ++i)
            trial_.position[i] = z.position[i] + scale * trial_.position[i];
        trial_.energy = potential.evaluate(trial_.position, {});
        const double rise = energy_difference(trial_.energy, z.energy) * rung.beta;
        const bool invalid = !std::isfinite(rise);
        const double acceptance = invalid ? 0 : acceptance_probability(rise);
        rung.invalid = rung.invalid || invalid;
        rung.acceptance += acceptance / static_cast<double>(steps_);
        if (random.uniform<double>() < acceptance) accept(rung);
    }
}

// Moves the rung to the trial point, and keeps where the step has begun. Nothing is copied.
template <Real T>
void RungKernel<T>::accept(Rung<T>& rung) {
    std::swap(rung.z, trial_);
    if (!rung.moved) std::swap(rung.before, trial_);
    rung.moved = true;
}

template struct Rung<float>;
template struct Rung<double>;
template class RungKernel<float>;
template class RungKernel<double>;

}  // namespace pollen::detail
