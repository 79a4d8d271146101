#pragma once

#include <pollen/nn/potentials/model.hpp>
#include <pollen/samplers/chain.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace pollen::test {

// A random walk with Metropolis acceptance that adapts its scale: all that run_chains needs of a sampler.
struct Walk {
    double scale = 0.5;
    double weight = 1;  // of step t: weight / (1 + t / 10), if it is not 1
    // A fault to find: this chain throws at this step.
    std::int64_t bad_chain = -1, bad_step = 0;
    // Every other step, from the first one, is said to diverge and to be as deep as can be.
    bool diverges = false;

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const { return "Walk(scale " + std::to_string(scale) + ")"; }
};

template <Real T>
class WalkChain final : public Chain<T> {
  public:
    WalkChain(const Walk& options, std::unique_ptr<Potential<T>> potential, ChainStart<T> start)
        : options_(options), potential_(std::move(potential)), start_(std::move(start)) {
        position_ = start_.position;
        proposal_.resize(position_.size());
        const Energy energy = potential_->evaluate(position_, {});
        prior_ = energy.prior;
        likelihood_ = energy.likelihood;
        log_scale_ = std::log(options.scale);
    }

    StepStatistics step() override {
        if (options_.bad_chain == start_.chain && options_.bad_step == steps_) throw std::runtime_error("a fault");
        Random random = random_of(start_.seed, start_.chain, steps_);
        const double scale = std::exp(log_scale_);
        for (std::size_t k = 0; k < position_.size(); ++k)
            proposal_[k] =
                static_cast<T>(static_cast<double>(position_[k]) + scale * static_cast<double>(random.normal<T>()));
        const Energy energy = potential_->evaluate(proposal_, {});
        const double error = (energy.prior - prior_) + (energy.likelihood - likelihood_);
        const double acceptance = std::isnan(error) ? 0 : std::min(1.0, std::exp(-error));
        if (random.uniform<double>() < acceptance) {
            std::swap(position_, proposal_);
            prior_ = energy.prior;
            likelihood_ = energy.likelihood;
        }
        if (steps_ < start_.warmup) log_scale_ += (acceptance - 0.3) / std::sqrt(1.0 + static_cast<double>(steps_));
        const bool bad = options_.diverges && steps_ % 2 == 0;
        ++steps_;
        return {.energy = prior_ + likelihood_,
                .hamiltonian = options_.diverges ? prior_ + likelihood_ + random.uniform<double>()
                                                 : std::numeric_limits<double>::quiet_NaN(),
                .acceptance = acceptance,
                .step_size = scale,
                .tree_depth = bad ? 5 : 0,
                .divergent = bad,
                .invalid = std::isnan(error) || bad};
    }
    std::span<const T> position() const override { return position_; }
    std::int64_t steps() const override { return steps_; }
    void visit(StateVisitor& visitor) override {
        visitor.integer("steps", steps_);
        visitor.vector("position", position_);
        visitor.number("prior", prior_);
        visitor.number("likelihood", likelihood_);
        visitor.number("log_scale", log_scale_);
    }
    ChainFacts facts() const override {
        return {.hamiltonian = options_.diverges,
                .weighted = options_.weight != 1,
                .max_tree_depth = options_.diverges ? 5 : 0,
                .step_size = std::exp(log_scale_)};
    }
    double weight() const override {
        return options_.weight == 1 ? 1 : options_.weight / (1 + static_cast<double>(steps_) / 10);
    }

  private:
    Walk options_;
    std::unique_ptr<Potential<T>> potential_;
    ChainStart<T> start_;
    std::vector<T> position_, proposal_;
    double prior_ = 0, likelihood_ = 0, log_scale_ = 0;
    std::int64_t steps_ = 0;
};

template <Real T>
std::unique_ptr<Chain<T>> Walk::begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
    return std::make_unique<WalkChain<T>>(*this, std::move(potential), std::move(start));
}
static_assert(SamplerOf<Walk, float> && SamplerOf<Walk, double>);

// Parameters of several shapes: x, the positive s, and w (2, 3), which is computed.
template <Real T>
ModelPotential<T> shapes_model(double centre = 0) {
    return ModelPotential<T>([centre](Model<T>& m) {
        const auto x = m.real("x"), s = m.positive("s"), w = m.real("w", {2, 3});
        m.prior(sum(square(x - centre)) * -0.5);
        m.prior(s * -1.0);
        m.prior(sum(square(w)) * -0.5);
        m.quantity("x_plus_s", x + s);
    });
}

}  // namespace pollen::test
