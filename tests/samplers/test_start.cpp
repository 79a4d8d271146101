// Starting points: what find_start accepts, what it says where there is none, and where networks begin.
#include <pollen/nn/distributions.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/potentials/model.hpp>
#include <pollen/nn/potentials/network_potential.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/full_batch/mala.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>
#include <pollen/samplers/start.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "../support.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(start)

namespace {

std::string failure(ModelPotential<double> model) {
    return error_of<ValueError>([&] { find_start(model, 1, 0); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(points_are_in_the_box_finite_and_different) {
    ModelPotential<double> model([](Model<double>& m) {
        const auto x = m.real("x", {3});
        m.prior(log(x + 1.9));  // not a number for x < -1.9
    });
    std::vector<double> before;
    for (std::uint32_t chain = 0; chain < 50; ++chain) {
        const std::vector<double> theta = find_start(model, 1, chain);
        for (const double x : theta) BOOST_TEST((x > -1.9 && x < 2));
        BOOST_TEST((theta == find_start(model, 1, chain)));
        BOOST_TEST((theta != before));
        before = theta;
    }
    BOOST_TEST((find_start(model, 1, 0, 0) == std::vector<double>(3, 0.0)));
}

// Each chain of a network at its own values of the initialisers, unless a radius or starts are given.
BOOST_AUTO_TEST_CASE(networks_start_at_their_initialisers) {
    const Dataset<double> data{.inputs = normals({30, 4}, 1), .targets = normals({30, 1}, 2)};
    const Sequential<double> net{Dense<double>(4, 50), Relu<double>(), Dense<double>(50, 1)};
    const NetworkPotential<double> potential(net, Gaussian<double>::known(1), data);
    const auto first_points = [&](RunOptions options) {
        options.chains = 2;
        options.warmup = 0;
        options.draws = 1;
        options.seed = 7;
        options.show = Show::nothing;
        const Tensor<double> values = run_chains(potential, Sgld{.step_size = 1e-30}, options).values;
        const auto n = static_cast<std::size_t>(potential.size());
        return std::vector<std::vector<double>>{std::vector<double>(values.begin(), values.begin() + n),
                                                std::vector<double>(values.begin() + n, values.end())};
    };
    const auto points = first_points({});
    for (std::uint32_t chain = 0; chain < 2; ++chain) {
        const std::vector<double> start = potential.start(7, chain);
        for (std::size_t k = 0; k < start.size(); ++k) BOOST_TEST(std::abs(points[chain][k] - start[k]) < 1e-12);
    }
    BOOST_TEST((potential.start(7, 0) != potential.start(7, 1)));
    BOOST_TEST((potential.start(7, 0) != potential.start(8, 0)));
    const auto largest = [](const std::vector<double>& x) {
        return std::abs(*std::ranges::max_element(x, {}, [](double y) { return std::abs(y); }));
    };
    BOOST_TEST(largest(first_points({.radius = 100})[0]) > 50);
    BOOST_TEST(largest(first_points({.starts = {std::vector<double>(points[0].size(), 0.25)}})[1]) < 0.26);
    // Other potentials have nothing to say.
    const ModelPotential<double> model([](Model<double>& m) { m.prior(normal_lpdf(m.real("x"), 0, 1)); });
    BOOST_TEST(model.start(1, 0).empty());
}

BOOST_AUTO_TEST_CASE(the_parameter_to_look_at_is_named) {
    BOOST_TEST(failure(ModelPotential<double>([](Model<double>& m) {
                   const auto a = m.real("a"), b = m.real("b");
                   m.prior(normal_lpdf(a, 0, 1));
                   m.prior(log(-exp(b * 0.0)));  // wherever b is: nothing tells it from a
               })) ==
               "find_start: no starting point in 100 attempts: at the last one -log p(theta) is nan; look at a, b");
    BOOST_TEST(failure(ModelPotential<double>([](Model<double>& m) {
                   const auto a = m.real("a"), b = m.real("b");
                   m.prior(normal_lpdf(a, 0, 1));
                   m.prior(sqrt(-exp(b)));
               })) == "find_start: no starting point in 100 attempts: at the last one -log p(theta) is nan; look at b");
    BOOST_TEST(failure(ModelPotential<double>([](Model<double>& m) {
                   const auto a = m.real("a"), b = m.real("b");
                   m.prior(normal_lpdf(a, 0, 1) + normal_lpdf(b, 0, 1));
                   m.likelihood(sqrt(abs(b) * -1.0));  // a number at b = 0 alone
               })) ==
               "find_start: no starting point in 100 attempts: at the last one -log p(data | theta) is nan; "
               "look at b");
    BOOST_TEST(failure(ModelPotential<double>([](Model<double>& m) {
                   const auto a = m.real("a"), b = m.real("b");
                   m.prior(normal_lpdf(a, 0, 1) + sqrt(b * 0.0));
               })) ==
               "find_start: no starting point in 100 attempts: at the last one the gradient is not finite; look at b");
}

BOOST_AUTO_TEST_CASE(a_distribution_out_of_its_domain_says_why) {
    BOOST_TEST(failure(ModelPotential<double>([](Model<double>& m) {
                   const auto a = m.real("a"), sd = m.real("sd");
                   m.prior(normal_lpdf(a, 0, 1.0 - abs(sd * 1e9)));
               }))
                   .starts_with("find_start: no starting point in 100 attempts: at the last one there is no density: "
                                "Normal: sd is -"));
}

// A standard deviation that underflows to 0 along the way is a point to reject, not the end of the run.
BOOST_AUTO_TEST_CASE(out_of_the_domain_along_the_way) {
    const ModelPotential<double> model([](Model<double>& m) {
        const auto x = m.real("x");
        m.prior(normal_lpdf(x, 0, 1));
        m.prior(normal_lpdf(1.0, 1.0, relu(x + 1.0)) * 0.0);  // no density below -1
    });
    const Draws draws = run_chains(model, Nuts{}, {.seed = 2, .show = Show::nothing});
    std::int64_t invalid = 0;
    for (const ChainRecord& r : draws.chains) invalid += r.invalid_steps;
    const Tensor<double> x = draws["x"];
    const double least = *std::min_element(x.begin(), x.end());
    BOOST_TEST(invalid > 100);
    BOOST_TEST((least > -1 && least < -0.95));
}

namespace {

// y ~ Normal(mu, sigma), 5000 numbers of mean 0 and standard deviation 0.1. Far from them the gradient is so steep that
// the first steps take sigma to 0.
template <Real T>
ModelPotential<T> narrow() {
    Tensor<T> y = Tensor<T>::empty({5000});
    Random random(3);
    random.fill_normal(y.mutable_values(), T(0), T(0.1));
    return ModelPotential<T>([y](Model<T>& m) {
        const auto mu = m.real("mu"), sigma = m.positive("sigma");
        m.likelihood(normal_lpdf(y, mu, sigma));
    });
}

// sigma has the mean 0.1 and the standard deviation 0.1 / sqrt(2 N) = 0.001, and the data's own differs from 0.1 by as
// much.
template <Real T, class S>
void check_narrow(const S& sampler) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        const Draws draws = run_chains(narrow<T>(), sampler,
                                       {.chains = 2, .warmup = 500, .draws = 200, .seed = seed, .show = Show::nothing});
        const Tensor<double> sigma = draws["sigma"];
        for (const double s : sigma) BOOST_TEST_REQUIRE(std::abs(s - 0.1) < 0.01);
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_standard_deviation_that_underflows) {
    check_narrow<float>(Nuts{});
    check_narrow<double>(Nuts{});
    check_narrow<float>(Mala{});
    check_narrow<double>(Mala{});
}

BOOST_AUTO_TEST_SUITE_END()
