#include <pollen/samplers/minibatch/psgld.hpp>

#include <pollen/samplers/minibatch/detail/stochastic_walk.hpp>

namespace pollen {

namespace {

template <Real T>
class PsgldChain final : public detail::StochasticWalk<T> {
  public:
    PsgldChain(const Psgld& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : detail::StochasticWalk<T>("Psgld", std::move(potential), std::move(start), options.batch),
          options_(options),
          memory_(this->position_.size() * static_cast<std::size_t>(options.preconditioner.needs().memories)),
          g_(this->position_.size()),
          gamma_(this->position_.size()) {
        check_positive("Psgld", "step_size", options_.step_size(0));
        estimate_curvature();
    }

    StepStatistics step() override {
        StepStatistics statistics;
        statistics.step_size = weight();
        // The preconditioner remembers what it sees. Whether the gradient is finite is in the energy, too.
        if (!std::isfinite(this->energy_.total())) {
            this->arrive(false, statistics);
            statistics.gradients += estimate_curvature();
            return statistics;
        }
        options_.preconditioner(PreconditionerStep<T>{.theta = this->position_,
                                                      .gradient = this->gradient_,
                                                      .curvature = curvature_,
                                                      .items = std::max<std::int64_t>(1, this->potential_->items()),
                                                      .memory = memory_,
                                                      .g = g_,
                                                      .gamma = gamma_});
        const bool finite = move(statistics.step_size);
        if (!finite) check_metric();
        this->arrive(finite, statistics);
        statistics.gradients += estimate_curvature();
        return statistics;
    }

    double weight() const override { return detail::step_size_at("Psgld", options_.step_size, this->steps_); }
    ChainFacts facts() const override { return detail::facts_of(options_.step_size, weight()); }

    std::int64_t refresh() override {
        const std::int64_t gradients = detail::StochasticWalk<T>::refresh();
        return gradients + estimate_curvature();
    }
    void add_quadratic(std::int64_t first, std::int64_t count, double by, double constant) override {
        detail::StochasticWalk<T>::add_quadratic(first, count, by, constant);
        if (!options_.preconditioner.needs().curvature) return;
        for (auto k = static_cast<std::size_t>(first); k < static_cast<std::size_t>(first + count); ++k)
            curvature_[k] += static_cast<T>(by);
    }

    void visit(StateVisitor& visitor) override {
        detail::StochasticWalk<T>::visit(visitor);
        visitor.vector("memory", memory_);
        if (options_.preconditioner.needs().curvature) visitor.vector("curvature", curvature_);
    }

  private:
    // theta - e/2 (G g - T Gamma) + sqrt(e T G) z
    bool move(double e) {
        using kernels::Batch;
        using kernels::Stream;
        const double t = this->temperature();
        const Batch<T> half(static_cast<T>(e / 2)), spread(static_cast<T>(e * t)), warm(static_cast<T>(t));
        return kernels::noisy_pass<T>(
            this->size(), this->key(), t > 0, [&](std::int64_t first, std::int64_t count, const T* z) {
                T* const to = this->next_.data() + first;
                const T* const metric = g_.data() + first;
                kernels::map_serial(
                    count, to,
                    [&](const Batch<T>& x, const Batch<T>& g, const Batch<T>& m, const Batch<T>& slope,
                        const Batch<T>& normal) {
                        return x - half * (m * g - warm * slope) + xsimd::sqrt(spread * m) * normal;
                    },
                    Stream<T>{this->position_.data() + first}, Stream<T>{this->gradient_.data() + first},
                    Stream<T>{metric}, Stream<T>{gamma_.data() + first}, Stream<T>{z});
                int bad = 0;
                for (std::int64_t i = 0; i < count; ++i) bad |= !kernels::is_finite(to[i]) || !(metric[i] > 0);
                return bad == 0;
            });
    }

    void check_metric() const {
        for (std::size_t i = 0; i < g_.size(); ++i)
            if (!(g_[i] > 0) && std::isfinite(this->gradient_[i]))
                throw ValueError("Psgld: the preconditioner " + options_.preconditioner.describe() +
                                 " gives G = " + to_text(static_cast<double>(g_[i])) + " for number " +
                                 std::to_string(i) + " of theta (" +
                                 this->potential_->block_of(static_cast<std::int64_t>(i)) + "); it must be positive");
    }

    // d^2 U~ / dtheta_i^2 = E s_i (H s)_i with random signs s, H s = (grad U~(theta + d s) - grad U~(theta)) / d on the
    // batch of the gradient. Returns how many gradients it took. next_ is free at this point of a step.
    std::int64_t estimate_curvature() {
        if (!options_.preconditioner.needs().curvature) return 0;
        curvature_.resize(this->position_.size());
        signs_.resize(this->position_.size());
        // The bits of a step serve nothing else.
        random_of(this->seed_, this->chain_, this->steps_).fill_bits(signs_);
        const double size = kernels::dot_in_double<T>(this->position_, this->position_);
        const double length = std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon())) *
                              (1 + std::sqrt(size / static_cast<double>(this->size())));
        const T d = static_cast<T>(length);
        const auto sign = [&](std::size_t i) { return (signs_[i] >> 31) != 0 ? T(-1) : T(1); };
        for (std::size_t i = 0; i < curvature_.size(); ++i) this->next_[i] = this->position_[i] + d * sign(i);
        this->gradients_.begin(this->steps_);
        this->gradients_(this->next_, curvature_);
        for (std::size_t i = 0; i < curvature_.size(); ++i) {
            const T slope = (curvature_[i] - this->gradient_[i]) / (this->next_[i] - this->position_[i]);
            curvature_[i] = std::isfinite(slope) ? slope : T(0);
        }
        return 1;
    }

    Psgld options_;
    std::vector<T> memory_, g_, gamma_, curvature_;
    std::vector<std::uint32_t> signs_;
};

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> Psgld::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    return std::make_unique<PsgldChain<T>>(*this, std::move(potential), std::move(start));
}

std::string Psgld::describe() const {
    return describe_options("Psgld", {{"step_size", step_size.describe()},
                                      {"batch", to_text(batch)},
                                      {"preconditioner", preconditioner.describe()}});
}

POLLEN_INSTANTIATE_SAMPLER(Psgld)

}  // namespace pollen
