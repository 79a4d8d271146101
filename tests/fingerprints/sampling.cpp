#include "fingerprint.hpp"

#include <pollen/nn/distributions.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/samplers/diagnostics/summary.hpp>
#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/kinetic_langevin.hpp>
#include <pollen/samplers/full_batch/mala.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/full_batch/tempering.hpp>
#include <pollen/samplers/minibatch/cyclical.hpp>
#include <pollen/samplers/minibatch/psgld.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/minibatch/sgnht.hpp>
#include <pollen/samplers/run/run_chains.hpp>

// Short runs of the samplers, warm-up included: of eight schools on all data, of a regression whose items are cut into
// blocks, and of a small network on minibatches.
namespace pollen::test {

namespace {

template <Real T>
void schools(Model<T>& m) {
    const Tensor<T> y{28, 8, -3, 7, -1, 1, 18, 12}, sigma{15, 10, 16, 11, 9, 11, 10, 18};
    const auto mu = m.real("mu");
    const auto tau = m.positive("tau");
    const auto z = m.real("z", {8});
    m.prior(normal_lpdf(mu, T(0), T(5)));
    m.prior(half_cauchy_lpdf(tau, T(5)));
    m.prior(normal_lpdf(z, T(0), T(1)));
    const auto theta = m.quantity("theta", mu + tau * z);
    m.likelihood(normal_lpdf(y, theta, sigma));
}

template <Real T>
ModelPotential<T> regression() {
    constexpr std::int64_t items = 50000;
    const auto x = numbers<T>({items, 3}, -1, 1, 33), y = numbers<T>({items}, -1, 1, 34);
    return ModelPotential<T>(
        [x, y](Model<T>& m) {
            const auto beta = m.real("beta", {3});
            const auto sigma = m.positive("sigma");
            m.prior(normal_lpdf(beta, T(0), T(1)));
            m.prior(exponential_lpdf(sigma, T(1)));
            const auto mean = matmul(m.rows(x), beta);
            m.likelihood(normal_lpdf(m.rows(y), mean, sigma));
        },
        items);
}

template <Real T>
NetworkPotential<T> network(std::int64_t items, const NetworkPotentialOptions& options = {}) {
    const Dataset<T> data{.inputs = numbers<T>({items, 5}, -1, 1, 31), .targets = numbers<T>({items, 1}, -1, 1, 32)};
    const Sequential<T> net{Dense<T>(5, 16), Relu<T>(), Dense<T>(16, 16), Tanh<T>(), Dense<T>(16, 1)};
    return {net, Gaussian<T>::known(0.3), data, options};
}

// An energy and its gradient over all items.
template <Real T>
void add_potential(Fingerprints& to, NetworkPotential<T>&& potential, const std::string& which,
                   const std::string& name = "NetworkPotential") {
    const std::vector<T> theta = potential.start(3);
    std::vector<T> gradient(theta.size());
    Fingerprint f;
    f.add(potential.evaluate(theta, gradient).total());
    f.add(std::span<const T>(gradient));
    to.add(name, std::string(type_name<T>) + " " + which, f);
}

// What the layers write for an item takes more than 64 kB, so that 64 MB are fewer than 1,000 items. There are so many
// parameters that a block is as many items as that allows. (Relu would be one layer with the convolution.)
template <Real T>
NetworkPotential<T> network_of_images() {
    const Dataset<T> data{.inputs = numbers<T>({300, 1, 40, 40}, -1, 1, 35),
                          .targets = numbers<T>({300, 12}, -1, 1, 36)};
    const Sequential<T> net{Conv2d<T>(1, 16, 3), Tanh<T>(), MaxPool2d<T>(2), Flatten<T>(), Dense<T>(16 * 19 * 19, 12)};
    return {net, Gaussian<T>::known(0.3), data};
}

// A few leaves of one block each, and 256 leaves of several blocks.
template <Real T>
void add_potentials(Fingerprints& to) {
    add_potential<T>(to, network<T>(120), "120 items");
    add_potential<T>(to, network<T>(2000), "2,000 items");
    add_potential<T>(to, network<T>(2000, {.piece = 3}), "2,000 items by threes");
    add_potential<T>(to, network_of_images<T>(), "300 items", "NetworkPotential, cut to fit");
}

template <Real T, class Sampler>
void add_run(Fingerprints& to, const std::string& name, const Potential<T>& potential, const Sampler& sampler,
             const RunOptions& options) {
    const Draws draws = run_chains(potential, sampler, options);
    Fingerprint f;
    f.add(draws.values);
    f.add(summary(draws));
    to.add(name, type_name<T>, f);
}

template <Real T>
void add_all(Fingerprints& to) {
    const RunOptions options{.chains = 2, .warmup = 150, .draws = 60, .seed = 8, .show = Show::nothing};
    const ModelPotential<T> model(schools<T>);
    add_run<T>(to, "NUTS", model, Nuts{}, options);
    add_run<T>(to, "NUTS, dense metric", model, Nuts{.metric = MetricKind::dense}, options);
    add_run<T>(to, "HMC", model, Hmc{}, options);
    add_run<T>(to, "MALA", model, Mala{}, options);
    add_run<T>(to, "Metropolis", model, Metropolis{}, options);
    add_run<T>(to, "kinetic Langevin", model, KineticLangevin{}, options);
    add_run<T>(to, "tempering", model, Tempering{}, options);
    add_run<T>(to, "MALA, model in blocks", regression<T>(), Mala{},
               {.chains = 2, .warmup = 40, .draws = 10, .seed = 8, .show = Show::nothing});
    const NetworkPotential<T> net = network<T>(120);
    add_run<T>(to, "NUTS, network", net, Nuts{}, options);
    add_run<T>(to, "SGLD", net, Sgld{.step_size = 1e-4, .batch = 30}, options);
    add_run<T>(to, "pSGLD", net, Psgld{.step_size = 1e-4, .batch = 30}, options);
    add_run<T>(to, "SGHMC", net, Sghmc{.step_size = 1e-4, .batch = 30}, options);
    add_run<T>(to, "SGNHT", net, Sgnht{.step_size = 1e-4, .batch = 30}, options);
}

}  // namespace

void add_sampling(Fingerprints& to) {
    add_potentials<float>(to);
    add_potentials<double>(to);
    add_all<float>(to);
    add_all<double>(to);
}

}  // namespace pollen::test
