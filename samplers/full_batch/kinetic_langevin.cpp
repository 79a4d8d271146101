#include <pollen/samplers/full_batch/kinetic_langevin.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/samplers/full_batch/detail/hamiltonian.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

constexpr const char* name = "KineticLangevin";

template <Real T>
class KineticLangevinChain final : public detail::FullBatchChain<T> {
  public:
    KineticLangevinChain(const KineticLangevin& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : detail::FullBatchChain<T>(name, std::move(potential), std::move(start)),
          step_size_(options.step_size),
          keep_(math::exp(-options.friction * options.step_size)),
          metric_(options.metric, this->size()) {
        this->need_gradient();
        if (!options.inverse_metric.empty()) metric_.set_inverse(options.inverse_metric, name);
        trial_.resize(z_.position.size());
    }

    StepStatistics step() override;
    void visit(StateVisitor& visitor) override {
        detail::FullBatchChain<T>::visit(visitor);
        visitor.vector("momentum", z_.momentum);
    }
    std::vector<double> inverse_metric() const override { return metric_.inverse(); }
    ChainFacts facts() const override {
        return {.acceptance = false,
                .hamiltonian = true,
                .fresh_momentum = false,
                .metric = metric_.kind(),
                .step_size = step_size_};
    }

  private:
    using detail::FullBatchChain<T>::z_;

    double step_size_, keep_;
    Metric<T> metric_;
    detail::Phase<T> trial_;
};

// B: p -= h/2 grad U,  A: q += h/2 M^-1 p,  O: p = c p + sqrt((1 - c^2) T) r with c = exp(-friction h),  A,  B.
// If the energy is not finite at the new point, the step is not made, and the momentum changes its sign.
template <Real T>
StepStatistics KineticLangevinChain<T>::step() {
    Random random = this->random();
    const double temperature = this->potential_->temperature();
    const T root = static_cast<T>(std::sqrt(temperature));
    if (this->step_ == 0) {
        metric_.draw_momentum(random, z_.momentum);
        for (T& p : z_.momentum) p *= root;
    }
    detail::Phase<T>& z = trial_;
    z.position = z_.position;
    z.momentum = z_.momentum;
    const T half = static_cast<T>(step_size_ / 2);
    metric_.open(half, half, z_.gradient.data(), z.momentum.data(), z.position.data(), z.velocity.data());
    metric_.draw_momentum(random, z.gradient);
    const T keep = static_cast<T>(keep_), fresh = static_cast<T>(std::sqrt(1 - keep_ * keep_)) * root;
    for (std::size_t i = 0; i < z.momentum.size(); ++i) z.momentum[i] = keep * z.momentum[i] + fresh * z.gradient[i];
    metric_.open(T(0), half, z_.gradient.data(), z.momentum.data(), z.position.data(), z.velocity.data());
    z.energy = this->potential_->evaluate(z.position, z.gradient);
    z.kinetic = metric_.close(half, z.gradient.data(), z.momentum.data(), z.velocity.data());

    StepStatistics s;
    s.step_size = step_size_;
    s.gradients = 1;
    s.invalid = !std::isfinite(z.energy.total() + z.kinetic);
    if (!s.invalid) {
        std::swap(z_, trial_);
    } else {
        for (T& p : z_.momentum) p = -p;
        metric_.velocity(z_.momentum.data(), z_.velocity.data());
        z_.kinetic = metric_.kinetic(z_.momentum.data(), z_.velocity.data());
    }
    s.energy = z_.energy.total() / temperature;
    s.hamiltonian = s.energy + z_.kinetic / temperature;
    ++this->step_;
    return s;
}

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> KineticLangevin::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    check_positive(name, "step_size", step_size);
    if (!(friction > 0))
        throw ValueError(std::string(name) + ": friction is " + to_text(friction) +
                         "; it must be positive, or infinite");
    return std::make_unique<KineticLangevinChain<T>>(*this, std::move(potential), std::move(start));
}

std::string KineticLangevin::describe() const {
    return describe_options(name, {{"step_size", to_text(step_size)},
                                   {"friction", to_text(friction)},
                                   {"metric", to_string(metric)},
                                   {"inverse_metric", numbers_text(inverse_metric)}});
}

double KineticLangevin::state_bytes(std::int64_t size, std::size_t number) const {
    // Two points of phase space.
    return vector_bytes(8, size, number) + detail::metric_bytes(metric, size, number, false);
}

POLLEN_INSTANTIATE_SAMPLER(KineticLangevin)

}  // namespace pollen
