#pragma once

#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/samplers/minibatch/stochastic_chain.hpp>

namespace pollen {

struct GammaHyperprior {
    double shape = 1, rate = 1;  // a and b of Gamma(a, b), whose mean is a / b
    std::int64_t every = 1;      // steps of the sampler from one update to the next
};

// A network's weights theta_k of block k (the weights of a layer, its biases) have the prior N(0, 1 / lambda_k), and
// the precisions lambda_k ~ Gamma(a, b) of their own (Chen, Fox & Guestrin 2014, Section 4.2). Given the weights a
// precision is drawn exactly: with n_k weights,
//
//     lambda_k | theta ~ Gamma(a + n_k / 2, b + |theta_k|^2 / 2)
//
// At a temperature T other than 1 the joint density of theta and lambda is raised to the power 1/T, in these
// coordinates:
//
//     lambda_k | theta ~ Gamma(1 + (a - 1 + n_k / 2) / T, (b + |theta_k|^2 / 2) / T)
template <Real T>
class GibbsPrecisionChain final : public StochasticChain<T> {
  public:
    // `inner` runs on `potential`, and the potential must outlive it; usually inner owns it.
    GibbsPrecisionChain(GammaHyperprior hyperprior, std::unique_ptr<Chain<T>> inner, NetworkPotential<T>& potential,
                        std::uint64_t seed, std::uint32_t chain);

    StepStatistics step() override;
    std::span<const T> position() const override { return inner_->position(); }
    std::int64_t steps() const override { return inner_->steps(); }
    void visit(StateVisitor& visitor) override;
    ChainFacts facts() const override { return inner_->facts(); }
    double weight() const override { return inner_->weight(); }
    std::span<const T> gradient() const override { return inner_->gradient(); }
    std::span<const T> momentum() const override { return inner_->momentum(); }
    std::vector<double> inverse_metric() const override { return inner_->inverse_metric(); }
    std::int64_t refresh() override { return stochastic_->refresh(); }
    void add_quadratic(std::int64_t first, std::int64_t count, double by, double constant) override {
        stochastic_->add_quadratic(first, count, by, constant);
    }
    std::span<const double> extra_values() const override { return precisions_; }

    // The precision of each block of the network, as last drawn; 0 before the first draw.
    const std::vector<double>& precisions() const { return precisions_; }

  private:
    std::int64_t draw_precisions(std::int64_t step);
    bool draws_at(std::int64_t step) const { return step % hyperprior_.every == 0; }

    GammaHyperprior hyperprior_;
    std::unique_ptr<Chain<T>> inner_;
    StochasticChain<T>* stochastic_;
    NetworkPotential<T>& potential_;
    std::uint64_t seed_;
    std::uint32_t chain_;
    std::vector<double> precisions_;
    // If the precisions of this step are drawn and the inner chain has not made it yet, since it was stopped: 1 + how
    // many gradients the draw took. Otherwise 0.
    std::int64_t drawn_ = 0;
};

namespace detail {
void check(const GammaHyperprior& hyperprior);
std::string describe(const GammaHyperprior& hyperprior, const std::string& sampler);
template <Real T>
NetworkPotential<T>& network_of(Potential<T>& potential);
template <Real T>
std::vector<Quantity> precisions_of(const Potential<T>& potential);
}  // namespace detail

// Any stochastic-gradient sampler, with Gibbs updates of the precisions between its steps:
//
//     GibbsPrecision<Sghmc> sampler{.sampler = {.step_size = 2e-6, .friction = 0.01, .batch = 500}};
//
// The draws have the precisions after the weights: draws["0.weight.precision"].
template <class Sampler>
struct GibbsPrecision {
    Sampler sampler = {};
    GammaHyperprior hyperprior = {};

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const {
        detail::check(hyperprior);
        NetworkPotential<T>& network = detail::network_of(*potential);
        const std::uint64_t seed = start.seed;
        const std::uint32_t chain = start.chain;
        return std::make_unique<GibbsPrecisionChain<T>>(
            hyperprior, sampler.begin(std::move(potential), std::move(start)), network, seed, chain);
    }
    std::string describe() const { return detail::describe(hyperprior, sampler.describe()); }
    double state_bytes(std::int64_t size, std::size_t number) const { return state_bytes_of(sampler, size, number); }
    template <Real T>
    std::vector<Quantity> extra_quantities(const Potential<T>& potential) const {
        return detail::precisions_of(potential);
    }
};

}  // namespace pollen
