#pragma once

#include <pollen/autograd/support/progress.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

// Does a sampler draw from the posterior that a model means? Both tests here simulate the model, and so find a wrong
// density, a Jacobian that was left out, a prior that differs from the simulated one, and a sampler that is wrong.
namespace pollen {

// How a model is simulated: parameters from its prior, data from its likelihood. For y_i ~ N(mu, sigma):
//
//     Simulation<double> model{
//         .prior = [](Random& r) { return std::vector<double>{r.normal(), math::log(draw_sigma(r))}; },
//         .posterior = [](std::span<const double> theta, Random& r) -> std::unique_ptr<Potential<double>> {
//             const Tensor<double> y = draw_data(theta[0], math::exp(theta[1]), r);
//             return std::make_unique<ModelPotential<double>>([y](Model<double>& m) { ... });
//         }};
//
// The functions are called by several threads at once, and get all their random numbers from r.
template <Real T>
struct Simulation {
    // theta ~ p(theta), on the unconstrained scale: log sigma if sigma is positive.
    std::function<std::vector<T>(Random&)> prior;
    // y ~ p(y | theta), and the potential of the posterior given y.
    std::function<std::unique_ptr<Potential<T>>(std::span<const T> theta, Random&)> posterior;
};

struct CalibrationOptions {
    std::int64_t replications = 1000;
    std::int64_t draws = 999;    // of each, after thinning; at least 6; draws + 1 must be a multiple of `bins`
    std::int64_t bins = 20;      // of the ranks 0, ..., draws
    std::int64_t warmup = 1000;  // steps before the first draw, in which the sampler adapts itself
    std::int64_t thin = 10;      // steps for one draw: as many as make draws nearly independent
    std::uint64_t seed = 0;
    Show show = Show::automatic;
    std::stop_token stop = {};  // a request to stop, from any thread, ends the replications that are under way
};

// The ranks of one quantity: how many draws of a replication are below the value that its data were simulated from.
struct QuantityRanks {
    std::string name;
    std::vector<std::int64_t> ranks;   // one a replication, 0, ..., draws
    std::vector<std::int64_t> counts;  // of ranks in each bin
    double chi_squared = 0, p_value = 0;
    double ess = 0;         // effective sample size of a draw, mean of all replications: 1 for independent ones
    bool constant = false;  // it is the same number in all replications

    // The draws are worth too little for the ranks to say anything.
    bool too_dependent() const { return !constant && !(ess >= 0.1); }
};

struct Calibration {
    std::vector<QuantityRanks> quantities;  // the model's, and the energy U
    std::int64_t replications = 0, draws = 0, bins = 0;
    bool interrupted = false;  // by a request to stop, or Ctrl-C: the replications are those that were finished

    // No p-value is below the level (of a right sampler, each is with that probability), and the draws are worth at
    // least 0.1 independent ones each: a chain that stays where it began, at a draw from the posterior, has uniform
    // ranks. A quantity that is the same in all draws of all replications does not count.
    bool passed(double level = 0.001) const;
};

// A table with a histogram of the ranks of each quantity, and in words what is wrong.
std::string summary(const Calibration& calibration, double level = 0.001);

struct GewekeOptions {
    std::int64_t chains = 20;
    std::int64_t draws = 5000;     // of each chain, and as many of prior and data
    std::int64_t transitions = 1;  // of the sampler for one draw
    std::uint64_t seed = 0;
    Show show = Show::automatic;
    std::stop_token stop = {};  // a request to stop, from any thread, ends the chains that are under way
};

// The mean of one test function in both simulations.
struct GewekeMoment {
    std::string name;
    double prior = 0, chain = 0;  // its means in simulations of prior and data, and along the chains
    double error = 0;             // the standard error of their difference
    double z = 0, p_value = 0;
    double ess = 0;         // effective sample size of all chains
    bool constant = false;  // it is the same number in both simulations

    // The chains are worth too little for z to say anything.
    bool too_dependent() const { return !constant && !(ess >= 100); }
};

struct GewekeTest {
    std::vector<GewekeMoment> moments;  // mean and mean square of each quantity of the model, and of the energy U
    std::int64_t chains = 0, draws = 0, transitions = 0;
    bool interrupted = false;  // by a request to stop, or Ctrl-C: the chains are those that were finished

    // No p-value is below the level, and the chains are worth at least 100 independent draws of each quantity that is
    // not constant.
    bool passed(double level = 0.001) const;
};

std::string summary(const GewekeTest& test, double level = 0.001);

namespace detail {
template <Real T>
Calibration calibrate_chains(const Simulation<T>& model, const BeginChain<T>& begin, const CalibrationOptions& options);
template <Real T>
GewekeTest geweke_test_chains(const Simulation<T>& model, const BeginChain<T>& begin, const GewekeOptions& options);
}  // namespace detail

// Simulation-based calibration (Talts, Betancourt, Simpson, Vehtari & Gelman, Validating Bayesian inference algorithms
// with simulation-based calibration, 2018). In each replication,
//
//     theta* ~ p(theta),    y ~ p(y | theta*),    theta_1, ..., theta_L ~ p(theta | y) by the sampler
//     rank = number of f(theta_l) < f(theta*)
//
// and the rank is one of 0, ..., L with equal probability, for all quantities f of the model, and for U. (Equal values
// count at random. A posterior that ignores its data passes, unless a quantity depends on them: Modrak et al. 2023.)
//
//     std::cout << summary(calibrate(model, Nuts{}));
//
// A chain begins at theta*, which is a draw from p(theta | y), too: its warm-up has to adapt the sampler, not to find
// the posterior. The ranks depend on the seed, not on the number of threads.
template <Real T, class S>
requires SamplerOf<S, T> Calibration calibrate(const Simulation<T>& model, const S& sampler,
                                               const CalibrationOptions& options = {}) {
    return detail::calibrate_chains<T>(
        model,
        [&](std::unique_ptr<Potential<T>> posterior, ChainStart<T> start) {
            return sampler.begin(std::move(posterior), std::move(start));
        },
        options);
}

// The test of Geweke (Getting it right: joint distribution tests of posterior simulators, 2004). The joint law of theta
// and y is simulated in two ways that must agree,
//
//     theta ~ p(theta),  y ~ p(y | theta)                                     again and again
//     theta_0 ~ p(theta),  y_t ~ p(y | theta_t),  theta_{t+1} ~ K(. | theta_t, y_t)    along a chain
//
// K is `transitions` transitions of the sampler. The sampler adapts nothing: its step size and metric are those it is
// given. The test compares means of f and f^2, so f^2 needs a finite variance: Cauchy priors cannot be tested. Each
// chain begins with a draw of the joint law. Therefore a large number of short chains is as good as a few long chains,
// and better if a chain may stay in one place for long.
//
// For each y a new chain is begun at theta_t, since a chain remembers the energy at its position. Where a sampler keeps
// a momentum, it begins with a fresh one, whose law does not depend on y, and keeps it for the transitions of this y:
// partial refreshment is tested with several of them. Tempering cannot be tested in this way; the law of its hot copies
// depends on y.
template <Real T, class S>
requires SamplerOf<S, T> GewekeTest geweke_test(const Simulation<T>& model, const S& sampler,
                                                const GewekeOptions& options = {}) {
    return detail::geweke_test_chains<T>(
        model,
        [&](std::unique_ptr<Potential<T>> posterior, ChainStart<T> start) {
            return sampler.begin(std::move(posterior), std::move(start));
        },
        options);
}

}  // namespace pollen
