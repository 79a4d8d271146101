#include <pollen/samplers/minibatch/gibbs_precision.hpp>

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/nn/distributions/detail/gamma_draws.hpp>
#include <pollen/samplers/minibatch/kernels/noisy_pass.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/options.hpp>

namespace pollen {

template <Real T>
GibbsPrecisionChain<T>::GibbsPrecisionChain(GammaHyperprior hyperprior, std::unique_ptr<Chain<T>> inner,
                                            NetworkPotential<T>& potential, std::uint64_t seed, std::uint32_t chain)
    : hyperprior_(hyperprior),
      inner_(std::move(inner)),
      stochastic_(dynamic_cast<StochasticChain<T>*>(inner_.get())),
      potential_(potential),
      seed_(seed),
      chain_(chain),
      precisions_(Parameters<T>(potential.network()).count()) {
    if (!stochastic_)
        throw ValueError(
            "GibbsPrecision: the sampler keeps what it knows of the potential from step to step; only a "
            "stochastic-gradient sampler can have its prior changed in between");
    check_positive("GibbsPrecision", "the temperature", potential.temperature());
}

// Only priors N(0, 1 / lambda_k) change, so U gains
//
//     (lambda_k' - lambda_k) |theta_k|^2 / 2 - n_k / 2 log(lambda_k' / lambda_k)
//
// which takes no gradient; but for the first time, when they come in the place of the priors of the options. Returns
// how many gradients were computed.
template <Real T>
std::int64_t GibbsPrecisionChain<T>::draw_precisions(std::int64_t step) {
    const double temperature = potential_.temperature();
    // The normals and uniforms of the streams of batches serve nothing else.
    const RandomKey key{seed_, stream_of(Purpose::chain_batches, chain_), static_cast<std::uint64_t>(step)};
    std::vector<double> shapes(precisions_.size()), rates(shapes.size()), drawn(shapes.size());
    for (std::size_t k = 0; k < shapes.size(); ++k) {
        const Quantity& block = potential_.blocks()[k];
        const auto weights = inner_->position().subspan(static_cast<std::size_t>(block.offset),
                                                        static_cast<std::size_t>(block.shape.size()));
        const double n = static_cast<double>(weights.size());
        shapes[k] = 1 + (hyperprior_.shape - 1 + n / 2) / temperature;
        rates[k] = (hyperprior_.rate + kernels::dot_in_double<T>(weights, weights) / 2) / temperature;
        if (!(shapes[k] > 0))
            throw ValueError("GibbsPrecision: at temperature " + to_text(temperature) + " the precision of " +
                             block.name + " has no law; a shape of at least 1 is needed");
    }
    kernels::fill_log_gamma(key, 0, shapes, drawn);
    const bool first = precisions_.front() == 0;
    for (std::size_t k = 0; k < shapes.size(); ++k) {
        const double before = precisions_[k], now = precisions_[k] = math::exp(drawn[k]) / rates[k];
        potential_.set_precision(k, now);
        if (first) continue;
        const Quantity& block = potential_.blocks()[k];
        stochastic_->add_quadratic(block.offset, block.shape.size(), now - before,
                                   static_cast<double>(block.shape.size()) / 2 * math::log(before / now));
    }
    return first ? stochastic_->refresh() : 0;
}

template <Real T>
StepStatistics GibbsPrecisionChain<T>::step() {
    const std::int64_t t = inner_->steps();
    if (draws_at(t) && drawn_ == 0) drawn_ = 1 + draw_precisions(t);
    StepStatistics statistics = inner_->step();
    if (drawn_ > 0) statistics.gradients += drawn_ - 1;
    drawn_ = 0;
    return statistics;
}

template <Real T>
void GibbsPrecisionChain<T>::visit(StateVisitor& visitor) {
    inner_->visit(visitor);
    visitor.vector("precisions", precisions_);
    visitor.integer("drawn", drawn_);
    check_saved_count("drawn", drawn_);
    if (drawn_ > 0 && !draws_at(inner_->steps()))
        throw ValueError("drawn is " + to_text(drawn_) + ", but no precisions are drawn at step " +
                         to_text(inner_->steps()));
    for (std::size_t k = 0; k < precisions_.size(); ++k)
        if (precisions_[k] > 0) potential_.set_precision(k, precisions_[k]);
}

namespace detail {

void check(const GammaHyperprior& hyperprior) {
    check_positive("GibbsPrecision", "shape", hyperprior.shape);
    check_positive("GibbsPrecision", "rate", hyperprior.rate);
    check_option(hyperprior.every > 0, "GibbsPrecision", "every", to_text(hyperprior.every), "be positive");
}

std::string describe(const GammaHyperprior& hyperprior, const std::string& sampler) {
    return describe_options("GibbsPrecision", {{"sampler", sampler},
                                               {"shape", to_text(hyperprior.shape)},
                                               {"rate", to_text(hyperprior.rate)},
                                               {"every", to_text(hyperprior.every)}});
}

template <Real T>
NetworkPotential<T>& network_of(Potential<T>& potential) {
    if (auto* const network = dynamic_cast<NetworkPotential<T>*>(&potential)) return *network;
    if (potential.of_network())
        throw ValueError("GibbsPrecision: the items of the network are spread over ranks; it takes a NetworkPotential");
    throw ValueError("GibbsPrecision: the potential is not that of a network: " + potential.describe());
}

template <Real T>
std::vector<Quantity> precisions_of(const Potential<T>& potential) {
    const auto* const network = dynamic_cast<const NetworkPotential<T>*>(&potential);
    std::vector<Quantity> result;
    if (!network) return result;  // a chain cannot begin, and says why
    for (std::size_t k = 0; k < Parameters<T>(network->network()).count(); ++k)
        result.push_back({network->blocks()[k].name + ".precision", Shape{}});
    return result;
}

template NetworkPotential<float>& network_of(Potential<float>&);
template NetworkPotential<double>& network_of(Potential<double>&);
template std::vector<Quantity> precisions_of(const Potential<float>&);
template std::vector<Quantity> precisions_of(const Potential<double>&);

}  // namespace detail

template class GibbsPrecisionChain<float>;
template class GibbsPrecisionChain<double>;
static_assert(SamplerOf<GibbsPrecision<Sgld>, float> && SamplerOf<GibbsPrecision<Sghmc>, double>);

}  // namespace pollen
