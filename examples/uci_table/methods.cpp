#include "methods.hpp"

#include "../common/example.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>
#include <pollen/nn/variational/last_layer_laplace.hpp>
#include <pollen/nn/variational/swag.hpp>
#include <pollen/samplers/draws/predict_draws.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <algorithm>

using namespace pollen;

namespace {

constexpr std::int64_t hidden = 50;
constexpr std::int64_t batch = 32;
constexpr double learning_rate = 0.01;

Sequential<float> network(const RegressionTask& task) {
    return Sequential{Dense(task.train_data.inputs.shape()[1], hidden), Relu(), Dense(hidden, 1)};
}

// The noise, the same for all items, is learned along.
Gaussian<float> noise() { return Gaussian<float>::learned(0.5); }

TrainOptions training(const RegressionTask& task, std::int64_t updates, std::uint64_t seed) {
    const std::int64_t an_epoch = (task.train_data.size() + batch - 1) / batch;
    const std::int64_t epochs = std::max<std::int64_t>(1, updates / an_epoch);
    return {.epochs = epochs,
            .batch = batch,
            .optimiser = Adam{.rate = Schedule::cosine(learning_rate, epochs * an_epoch)},
            .seed = seed,
            .show = Show::nothing};
}

// A network and its noise at theta.
struct AtTheta {
    Sequential<float> net;
    Gaussian<float> likelihood = noise();

    AtTheta(const RegressionTask& task, std::span<const float> theta) : net(network(task)) {
        const std::int64_t used = unflatten<float>(net, theta);
        unflatten<float>(likelihood, theta.subspan(static_cast<std::size_t>(used)));
    }
};

void add_theta(Mixture& mixture, const RegressionTask& task, std::span<const float> theta) {
    const AtTheta at(task, theta);
    mixture.add(predict(at.net, task.test_data.inputs), at.likelihood.sd());
}

// Draws of a network's own randomness: dropout, or the weights of Bayesian layers.
Mixture sampled(const RegressionTask& task, const Module<float>& net, double sd, std::int64_t draws,
                std::uint64_t seed) {
    Mixture mixture;
    each_sample<float>(net, task.test_data.inputs, {.samples = draws, .seed = seed},
                       [&](const Tensor<float>& y) { mixture.add(y, sd); });
    return mixture;
}

Mixture by_dropout(const RegressionTask& task, double rate, double prior, const Budget& budget, std::uint64_t seed) {
    Sequential net{Dense(task.train_data.inputs.shape()[1], hidden), Relu(), Dropout(rate), Dense(hidden, 1)};
    Gaussian<float> likelihood = noise();
    TrainOptions options = training(task, budget.updates, seed);
    options.prior = FanInPrior{prior};
    unless_stopped(train(net, likelihood, task.train_data, options));
    return sampled(task, net, likelihood.sd(), budget.draws, seed);
}

Mixture by_backprop(const RegressionTask& task, double prior, const Budget& budget, std::uint64_t seed) {
    Sequential twin = bayesian(network(task), {.prior = FanInPrior{prior},
                                               .posterior = mean_field<float>(0.02),
                                               .estimator = Estimator::local,
                                               .complexity = Complexity::closed});
    Gaussian<float> likelihood = noise();
    unless_stopped(train(twin, likelihood, task.train_data, training(task, 2 * budget.updates, seed)));
    return sampled(task, twin, likelihood.sd(), budget.draws, seed);
}

// SGD goes on from a network. Its rate is in units of the variance of the noise: a step is then as long as one of this
// rate on the squared error.
Mixture by_swag(const RegressionTask& task, const Networks& networks, double rate, std::int64_t draws,
                const Budget& budget, std::uint64_t seed) {
    Mixture mixture;
    for (const auto& theta : networks.thetas) {
        AtTheta at(task, theta);
        const double sd = at.likelihood.sd();
        TrainOptions options = training(task, budget.updates / 2, ++seed);
        options.optimiser = Sgd{.rate = rate * sd * sd};
        options.prior = FanInPrior{networks.prior};
        Swag<float> swag;
        const Parameters<float> parameters = parameters_of<float>(at.net, at.likelihood);
        options.on_epoch = [&](const EpochRecord&) {
            swag.collect(parameters.flatten().values());
            return true;
        };
        try {
            unless_stopped(train(at.net, at.likelihood, task.train_data, options));
        } catch (const ValueError&) {
            throw Diverged();
        }
        for (const Tensor<float>& drawn : swag.draws(draws, seed)) add_theta(mixture, task, drawn.values());
    }
    return mixture;
}

Mixture by_laplace(const RegressionTask& task, const Networks& networks) {
    const AtTheta at(task, networks.thetas.front());
    const LastLayerLaplace<float> laplace(at.net, at.likelihood, task.train_data);
    const LaplaceNumbers<float> found = laplace.predict_numbers(task.test_data.inputs);
    Mixture mixture;
    mixture.add(found.mean, found.sd);
    return mixture;
}

// A chain from each of the networks; `draws` of each chain are used.
template <class Sampler>
Mixture by_chains(const RegressionTask& task, const Networks& networks, double prior, const Sampler& sampler,
                  RunOptions options, std::int64_t draws) {
    const NetworkPotential<float> potential(network(task), noise(), task.train_data, {.prior = FanInPrior{prior}});
    options.chains = std::ssize(networks.thetas);
    options.show = Show::nothing;
    for (const auto& theta : networks.thetas) options.starts.emplace_back(theta.begin(), theta.end());
    const Draws found = unless_stopped(run_chains(potential, sampler, options));
    Mixture mixture;
    mixture.rhat = function_space<float>(potential.network(), found, task.test_data.inputs).rhat.worst;
    const std::int64_t every = std::max<std::int64_t>(1, options.draws / draws);
    each_draw(found, every, [&](std::int64_t, std::int64_t, std::span<const double> values, double) {
        const std::vector<float> theta(values.begin(), values.end());
        add_theta(mixture, task, theta);
    });
    return mixture;
}

std::int64_t draws_of_each(const Budget& budget) { return std::max<std::int64_t>(6, budget.draws / budget.members); }

// The rate is in units of the variance of the noise, as that of SWAG.
Mixture by_sghmc(const RegressionTask& task, const Networks& networks, double prior, const Budget& budget,
                 std::uint64_t seed) {
    const double sd = AtTheta(task, networks.thetas.front()).likelihood.sd();
    const Sghmc sampler{
        .step_size = 0.003 * sd * sd / static_cast<double>(task.train_data.size()), .friction = 0.05, .batch = batch};
    const std::int64_t draws = draws_of_each(budget);
    return by_chains(task, networks, prior, sampler,
                     {.warmup = 2 * budget.updates, .draws = draws, .thin = 4 * budget.updates / draws, .seed = seed},
                     draws);
}

Mixture by_hmc(const RegressionTask& task, const Networks& networks, double prior, const Budget& budget,
               std::uint64_t seed) {
    const Hmc sampler{.step_size = 0.01, .steps = {20, 60}};
    const std::int64_t warmup = budget.hmc / 3;
    return by_chains(task, networks, prior, sampler, {.warmup = warmup, .draws = budget.hmc - warmup, .seed = seed},
                     draws_of_each(budget));
}

}  // namespace

Networks train_networks(const RegressionTask& task, double prior, std::int64_t members, const Budget& budget,
                        std::uint64_t seed) {
    Networks networks{prior, std::vector<std::vector<float>>(static_cast<std::size_t>(members))};
    parallel_for(members, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t k = begin; k < end; ++k) {
            Sequential<float> net = network(task);
            Gaussian<float> likelihood = noise();
            TrainOptions options = training(task, budget.updates, seed + 1000 * static_cast<std::uint64_t>(k));
            options.prior = FanInPrior{prior};
            unless_stopped(train(net, likelihood, task.train_data, options));
            const Tensor<float> theta = parameters_of<float>(net, likelihood).flatten();
            networks.thetas[static_cast<std::size_t>(k)].assign(theta.begin(), theta.end());
        }
    });
    return networks;
}

Mixture predict_networks(const RegressionTask& task, const Networks& networks) {
    Mixture mixture;
    for (const auto& theta : networks.thetas) add_theta(mixture, task, theta);
    return mixture;
}

std::vector<Method> methods_of(const Budget& budget) {
    using Task = RegressionTask;
    using Seed = std::uint64_t;
    const auto first_of = [](const Networks& networks) { return Networks{networks.prior, {networks.thetas.front()}}; };
    return {
        {"MAP",
         "prior",
         {0},
         [=](const Task& t, const Networks& n, double, Seed) { return predict_networks(t, first_of(n)); }},
        {"ensemble", "", {0}, [](const Task& t, const Networks& n, double, Seed) { return predict_networks(t, n); }},
        {"MC dropout",
         "rate",
         {0.005, 0.01, 0.05, 0.1},
         [=](const Task& t, const Networks& n, double rate, Seed s) {
             return by_dropout(t, rate, n.prior, budget, s);
         }},
        {"Bayes by Backprop", "prior", priors,
         [=](const Task& t, const Networks&, double prior, Seed s) { return by_backprop(t, prior, budget, s); }},
        {"SGHMC", "prior", priors,
         [=](const Task& t, const Networks& n, double prior, Seed s) { return by_sghmc(t, n, prior, budget, s); }},
        {"SWAG",
         "rate",
         {0.03, 0.1, 0.3, 1},
         [=](const Task& t, const Networks& n, double rate, Seed s) {
             return by_swag(t, first_of(n), rate, budget.draws, budget, s);
         }},
        {"multi-SWAG",
         "",
         {},
         [=](const Task& t, const Networks& n, double rate, Seed s) {
             return by_swag(t, n, rate, draws_of_each(budget), budget, s);
         }},
        {"Laplace, last layer",
         "",
         {0},
         [](const Task& t, const Networks& n, double, Seed) { return by_laplace(t, n); }},
        {"HMC", "prior", priors,
         [=](const Task& t, const Networks& n, double prior, Seed s) { return by_hmc(t, n, prior, budget, s); }},
    };
}
