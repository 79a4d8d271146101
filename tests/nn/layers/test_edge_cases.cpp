#include "../../support.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/pruning/compress.hpp>
#include <pollen/nn/pruning/weight_posteriors.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <algorithm>
#include <numbers>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(edge_cases)

// The layer's output for the input 1 is the drawn weight.
BOOST_AUTO_TEST_CASE(hierarchical_prior) {
    BayesDense<double> net(1, 1, {.prior = HierarchicalPrior{3}, .posterior = mean_field<double>(0.5)},
                           {.bias = false});
    initialise<double>(net, 1);
    BOOST_TEST(net.weights()[0].log_tau.value.item() == math::log(3.0));
    const double log_tau = 0.4, tau = std::exp(log_tau);
    net.weights()[0].log_tau.value = Tensor<double>::scalar(log_tau);
    const Parameters<double> parameters(net);
    Tape<double> tape;
    Pass<double> pass(tape, parameters, {.mode = Mode::train, .complexity_value = true});
    const double w = net(pass, tape.constant(Tensor<double>::ones({1, 1}))).item(), pi = std::numbers::pi;
    const double normal = -0.5 * w * w / (tau * tau) - log_tau - 0.5 * std::log(2 * pi);
    const double half_cauchy = std::log(2 / (pi * 3)) - std::log1p(tau * tau / 9);
    BOOST_TEST(pass.complexities().size() == 1u);
    BOOST_TEST(pass.complexities()[0].value().data()[1] == normal + half_cauchy + log_tau,
               boost::test_tools::tolerance(1e-13));
    tape.backward(sum(pass.complexities()[0] * Tensor<double>{0, 1}));
    BOOST_TEST(pass.leaves()[2].grad().item() == w * w / (tau * tau) - 1 - 2 * tau * tau / (9 + tau * tau) + 1,
               boost::test_tools::tolerance(1e-13));
}

BOOST_AUTO_TEST_CASE(pruning_needs_a_spread) {
    Sequential<double> net{Dense<double>(3, 2)};
    auto twin = bayesian(net, {.posterior = point_mass<double>()});
    initialise(twin, 1);
    const auto points = weight_posteriors<double>(twin);
    BOOST_TEST(error_of<ValueError>([&] { prune(points, {.fraction = 0.5}); }) ==
               "prune: 0.weight has sd 0; signal-to-noise needs a spread");
    BOOST_TEST(error_of<ValueError>([&] { signal_to_noise(points); }) ==
               "prune: 0.weight has sd 0; signal-to-noise needs a spread");
    BOOST_TEST(error_of<ValueError>([&] { prune(points, {.fraction = 0.5, .by = Criterion::kl_change}); }) ==
               "prune: 0.weight has sd 0; KL needs a spread");
    const std::vector<WeightPosterior<double>> wide{{"a", Tensor<double>{{1, 2}}, Tensor<double>{{1, INFINITY}}}};
    BOOST_TEST(error_of<ValueError>([&] { prune(wide, {.fraction = 0.5}); }) ==
               "prune: a: weight 1 has mean 2 and standard deviation inf; both must be finite, and the latter at "
               "least 0");
}

BOOST_AUTO_TEST_CASE(bayesian_networks_where_plain_ones_are_needed) {
    Sequential<float> net{Dense<float>(3, 2)};
    auto twin = bayesian(net);
    initialise(twin, 1);
    BOOST_TEST(error_of<ValueError>([&] { compress<float>(twin); }) ==
               "compress: 0.weight has a posterior; take mean_network() first");
    compress<float>(*mean_network<float>(twin));
    const Dataset<float> data{Tensor<float>::ones({4, 3}), Tensor<float>::ones({4, 2})};
    BOOST_TEST(
        error_of<ValueError>([&] { NetworkPotential<float>(twin, Gaussian<float>::known(1), data); }) ==
        "NetworkPotential: 0.weight has a variational posterior; samplers need the network itself, or mean_network()");
}

BOOST_AUTO_TEST_CASE(wide_histogram) {
    const Histogram four = histogram({-1e308, 0, 1e308}, 4);
    BOOST_TEST(four.edges == (std::vector<double>{-1e308, -0.5e308, 0, 0.5e308, 1e308}),
               boost::test_tools::per_element());
    BOOST_TEST(four.counts == (std::vector<std::int64_t>{1, 0, 1, 1}), boost::test_tools::per_element());
    BOOST_TEST(histogram({-1e308, 1e308}, 1).density()[0] == 5e-309, boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_SUITE_END()
