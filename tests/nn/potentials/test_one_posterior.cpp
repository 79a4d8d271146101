#include "../../support.hpp"

#include <pollen/nn/layers/activations.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>

using namespace pollen;
using namespace pollen::test;

// A network, its priors, a likelihood and data are one U: train() finds its mode, NetworkPotential is what samplers
// draw from, and Bayes by Backprop with point masses finds the mode, too.
BOOST_AUTO_TEST_SUITE(one_posterior)

namespace {

Dataset<double> noisy_wave() {
    Random random(5);
    Dataset<double> data{.inputs = Tensor<double>::empty({40, 2}), .targets = Tensor<double>::empty({40})};
    random.fill_normal(data.inputs.mutable_values());
    const std::span<double> y = data.targets.mutable_values();
    random.fill_normal(y, 0.0, 0.3);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += std::sin(data.inputs.values()[2 * i]);
    return data;
}

Sequential<double> network() {
    Sequential<double> net{with_prior(Dense<double>(2, 3), StudentTPrior{.nu = 5, .scale = 0.7}), Tanh<double>(),
                           Dense<double>(3, 1)};
    initialise<double>(net, 3);
    return net;
}

TrainOptions to_the_mode(std::int64_t steps, const Prior& prior) {
    return {.epochs = steps,
            .batch = 40,
            .optimiser = Momentum{.rate = 0.05, .momentum = 0.9},
            .prior = prior,
            .show = Show::nothing};
}

double largest_slope(const NetworkPotential<double>& potential, const std::vector<double>& theta) {
    std::vector<double> gradient(theta.size());
    const std::unique_ptr<Potential<double>> u = potential.clone();
    u->evaluate(theta, gradient);
    double largest = 0;
    for (const double g : gradient) largest = std::max(largest, std::abs(g));
    return largest;
}

template <class L>
void check_the_mode(L likelihood) {
    const Dataset<double> data = noisy_wave();
    Sequential<double> net = network();
    train(net, likelihood, data, to_the_mode(20'000, GaussianPrior{.sd = 0.5}));
    const NetworkPotential<double> potential(net, likelihood, data, {.prior = GaussianPrior{.sd = 0.5}});
    BOOST_TEST(largest_slope(potential, potential.start()) < 1e-6);

    // Another prior, of the options or of a layer, or another one of the noise is another posterior.
    BOOST_TEST(largest_slope({net, likelihood, data, {.prior = GaussianPrior{.sd = 1}}}, potential.start()) > 0.1);
    Sequential<double> plain = net;
    set_prior(plain, GaussianPrior{.sd = 0.5});
    BOOST_TEST(largest_slope({plain, likelihood, data, {}}, potential.start()) > 0.1);
    if (parameter_count<double>(likelihood) > 0) {
        L other = likelihood;
        set_prior(other, GaussianPrior{.sd = 0.5});
        BOOST_TEST(largest_slope({net, other, data, {.prior = GaussianPrior{.sd = 0.5}}}, potential.start()) > 0.1);
    }

    // Point masses at the mode stay there.
    Sequential<double> twin = bayesian(net, {.prior = GaussianPrior{.sd = 0.5}, .posterior = point_mass<double>()});
    L twin_likelihood = likelihood;
    train(twin, twin_likelihood, data, to_the_mode(10, FlatPrior{}));
    const std::vector<double> after =
        NetworkPotential<double>(*mean_network<double>(twin), twin_likelihood, data).start();
    const std::vector<double> before = potential.start();
    BOOST_TEST_REQUIRE(after.size() == before.size());
    for (std::size_t k = 0; k < after.size(); ++k) BOOST_TEST(std::abs(after[k] - before[k]) < 1e-6);
}

}  // namespace

BOOST_AUTO_TEST_CASE(with_known_noise) { check_the_mode(Gaussian<double>::known(0.3)); }
BOOST_AUTO_TEST_CASE(with_learned_noise) { check_the_mode(Gaussian<double>::learned()); }
BOOST_AUTO_TEST_CASE(with_learned_scale) { check_the_mode(StudentT<double>::learned(4)); }

BOOST_AUTO_TEST_CASE(a_prior_of_ones_own_is_part_of_the_description) {
    const Dataset<double> data = noisy_wave();
    const NetworkPotential<double> potential(network(), Gaussian<double>::known(0.3), data);
    BOOST_TEST(
        potential.describe() ==
        "network of 0.weight(3, 2) 0.bias(3) 2.weight(1, 3) 2.bias(1), Gaussian(sd 0.3), prior GaussianPrior(sd 1) "
        "0.weight ~ StudentTPrior(nu 5, scale 0.7) 0.bias ~ StudentTPrior(nu 5, scale 0.7), 40 items");
}

BOOST_AUTO_TEST_SUITE_END()
