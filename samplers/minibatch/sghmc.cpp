#include <pollen/samplers/minibatch/sghmc.hpp>

#include <pollen/samplers/minibatch/detail/noise_estimate.hpp>
#include <pollen/samplers/minibatch/detail/stochastic_walk.hpp>

#include <algorithm>

namespace pollen {

namespace {

template <Real T>
class SghmcChain final : public detail::MomentumWalk<T> {
  public:
    SghmcChain(const Sghmc& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : detail::MomentumWalk<T>("Sghmc", std::move(potential), std::move(start), options.batch,
                                  options.control_variate),
          schedule_(options.step_size),
          friction_(options.friction),
          estimated_(!options.noise.known()) {
        check_positive("Sghmc", "step_size", schedule_(0));
        check_positive("Sghmc", "friction", friction_);
        check_option(friction_ <= 1, "Sghmc", "friction", to_text(friction_), "not be above 1");
        if (estimated_ && this->warmup_ < 1)
            throw ValueError("Sghmc: the noise is to be estimated in the warm-up, but the warm-up has no steps");
        if (!estimated_) set_noise(options.noise.values());
        if (!estimated_ && noise_ > 0 && options.control_variate.every > 0)
            throw ValueError("Sghmc: noise is " + options.noise.describe() +
                             ", but a control variate removes most of the noise of a batch; "
                             "GradientNoise::estimated() or 0 is right with control_variate.every = " +
                             to_text(options.control_variate.every));
        check_noise(schedule_(0));
        this->draw_momentum(schedule_(0) * this->temperature());
    }

    // v = (1-a) v - h g~ + N(0, 2h (aT - b)),  theta += v,  2h b = h^2 V
    StepStatistics step() override {
        StepStatistics statistics;
        const double h = statistics.step_size = weight();
        check_noise(h);
        const double most = 2 * h * friction_ * this->temperature();
        const double variance = std::max(0.0, diagonal_.empty() ? most - h * h * noise_ : most);
        const bool finite = kernels::momentum_step<T>(this->position_, this->gradient_, 1 - friction_, h, variance,
                                                      diagonal_, this->key(), this->v_, this->next_);
        const bool moved = this->arrive(finite, statistics);
        if (estimated_ && this->steps_ <= this->warmup_) estimate(moved, statistics);
        return statistics;
    }

    double weight() const override { return detail::step_size_at("Sghmc", schedule_, this->steps_); }
    ChainFacts facts() const override { return detail::facts_of(schedule_, weight()); }

    void visit(StateVisitor& visitor) override {
        detail::MomentumWalk<T>::visit(visitor);
        if (!estimated_) return;
        estimate_.visit(visitor, this->position_.size());
        visitor.number("noise", noise_);
        visitor.vector("noise_diagonal", diagonal_);
        if (!diagonal_.empty()) check_saved_size("noise_diagonal", diagonal_.size(), this->position_.size());
    }

  private:
    // noise_ is the greatest of the variances.
    void set_noise(const std::vector<double>& v) {
        if (v.size() != 1 && std::ssize(v) != this->size())
            throw ShapeError("Sghmc: noise has " + std::to_string(v.size()) + " numbers; 1 or " +
                             std::to_string(this->size()) + " are expected");
        const auto least = std::min_element(v.begin(), v.end());
        check_option(*least >= 0, "Sghmc", "a variance of the noise", to_text(*least), "not be negative");
        noise_ = *std::max_element(v.begin(), v.end());
        if (v.size() == 1) return;
        diagonal_.resize(v.size());
        std::transform(v.begin(), v.end(), diagonal_.begin(), [](double x) { return static_cast<T>(x); });
    }

    void check_noise(double h) const {
        const double most = friction_ * this->temperature(), b = h * noise_ / 2;
        if (most >= b) return;
        std::string where;
        if (!diagonal_.empty()) {
            const auto worst = std::max_element(diagonal_.begin(), diagonal_.end()) - diagonal_.begin();
            where = " in " + this->potential_->block_of(worst);
        }
        throw ValueError("Sghmc: the noise of the gradient is more than the friction can take: a T = " + to_text(most) +
                         " is below b = h V / 2 = " + to_text(b) + where + " (h = " + to_text(h) + ", V = " +
                         to_text(noise_) + "); a smaller step_size, a larger batch or more friction is needed");
    }

    // Estimates the noise over the second half of the warm-up. If the step moved, next_ is free.
    void estimate(bool moved, StepStatistics& statistics) {
        if (moved && this->steps_ > this->warmup_ / 2 && !this->gradients_.full()) {
            const Energy energy = this->gradients_(this->position_, this->next_);
            if (std::isfinite(energy.total())) estimate_.add<T>(this->gradient_, this->next_);
            ++statistics.gradients;
        }
        if (this->steps_ < this->warmup_) return;
        if (estimate_.count() > 0) set_noise(estimate_.mean());
        estimate_.clear();
    }

    Schedule schedule_;
    double friction_;
    bool estimated_;
    double noise_ = 0;
    std::vector<T> diagonal_;
    detail::NoiseEstimate estimate_;
};

}  // namespace

template <Real T>
std::unique_ptr<Chain<T>> Sghmc::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    return std::make_unique<SghmcChain<T>>(*this, std::move(potential), std::move(start));
}

std::string Sghmc::describe() const {
    return describe_options("Sghmc", {{"step_size", step_size.describe()},
                                      {"friction", to_text(friction)},
                                      {"batch", to_text(batch)},
                                      {"noise", noise.describe()},
                                      {"control_variate.every", to_text(control_variate.every)}});
}

POLLEN_INSTANTIATE_SAMPLER(Sghmc)

}  // namespace pollen
