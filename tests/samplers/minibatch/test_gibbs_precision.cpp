#include "../run/run_files.hpp"
#include "minibatch_checks.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/layers/dense.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>
#include <pollen/samplers/minibatch/gibbs_precision.hpp>
#include <pollen/samplers/minibatch/minibatch_mh.hpp>
#include <pollen/samplers/minibatch/psgld.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/minibatch/sgld.hpp>
#include <pollen/samplers/run/run_chains.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

template <class T>
Dataset<T> line(std::int64_t n) {
    Dataset<T> data{.inputs = Tensor<T>::zeros({n, 1}), .targets = Tensor<T>::zeros({n, 1})};
    for (std::int64_t i = 0; i < n; ++i) {
        const double x = static_cast<double>(i + 1) / static_cast<double>(n);
        data.inputs.mutable_data()[i] = static_cast<T>(x);
        data.targets.mutable_data()[i] = static_cast<T>(1.5 * x + 0.1 * std::sin(50 * x));
    }
    return data;
}

// y = w x + noise, one weight.
NetworkPotential<double> slope() {
    return {Sequential<double>{Dense<double>(1, 1, {.bias = false})}, Gaussian<double>::known(1), line<double>(4)};
}

template <class T>
NetworkPotential<T> network() {
    return {Sequential<T>{Dense<T>(1, 3), Tanh<T>(), Dense<T>(3, 1)}, Gaussian<T>::learned(), line<T>(12)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gibbs_precision)

// The joint law of a weight and its precision, with an inner sampler that is exact: E w^2 and E lambda by quadrature
// over w, whose density without lambda is (b + w^2/2)^-(1 + (a - 1/2) / T) times the likelihood to the 1/T. A false
// alarm in one of 10^5 tests.
BOOST_AUTO_TEST_CASE(joint_law) {
    for (const double t : {1.0, 0.5}) {
        const double a = 2, b = 0.5;
        NetworkPotential<double> u = slope();
        u.set_temperature(t);
        double total = 0, square = 0, precision = 0;
        for (int k = -4000; k <= 4000; ++k) {
            const double w = k * 0.002, rate = b + w * w / 2;
            const double log_p = -(1 + (a - 0.5) / t) * std::log(rate) - u.evaluate(std::vector{w}, {}).likelihood / t;
            total += std::exp(log_p);
            square += std::exp(log_p) * w * w;
            precision += std::exp(log_p) * (1 + (a - 0.5) / t) / (rate / t);
        }
        const GibbsPrecision<ApproximateMinibatchMala> sampler{.sampler = {.step_size = 0.5},
                                                               .hyperprior = {.shape = a, .rate = b, .every = 2}};
        const auto chain = sampler.begin<double>(u.clone(), {{1.0}, 6, 0, 0});
        std::vector<std::vector<double>> squares(1), precisions(1);
        for (int k = 0; k < 150000; ++k) {
            chain->step();
            if (k % 3 != 0) continue;
            squares[0].push_back(chain->position()[0] * chain->position()[0]);
            precisions[0].push_back(dynamic_cast<GibbsPrecisionChain<double>&>(*chain).precisions()[0]);
        }
        BOOST_TEST(std::abs(z_score(squares, square / total)) < 5);
        BOOST_TEST(std::abs(z_score(precisions, precision / total)) < 5);
    }
}

// The joint law with a control variate, whose anchor has to go with the precisions: a long time between anchors, and
// precisions that vary much. SGLD of all four items one by one: E w^2 to within its step's error, which is 1 % here.
BOOST_AUTO_TEST_CASE(joint_law_with_a_control_variate) {
    const double a = 1, b = 0.02;
    NetworkPotential<double> u = slope();
    double total = 0, square = 0, precision = 0;
    for (int k = -4000; k <= 4000; ++k) {
        const double w = k * 0.002, rate = b + w * w / 2;
        const double log_p = -(a + 0.5) * std::log(rate) - u.evaluate(std::vector{w}, {}).likelihood;
        total += std::exp(log_p);
        square += std::exp(log_p) * w * w;
        precision += std::exp(log_p) * (a + 0.5) / rate;
    }
    const GibbsPrecision<Sgld> sampler{.sampler = {.step_size = 0.004, .batch = 2, .control_variate = {.every = 1000}},
                                       .hyperprior = {.shape = a, .rate = b}};
    const auto chain = sampler.begin<double>(u.clone(), {{1.0}, 6, 0, 0});
    double squares = 0, precisions = 0;
    const int steps = 1000000;
    for (int k = 0; k < steps; ++k) {
        chain->step();
        squares += chain->position()[0] * chain->position()[0] / steps;
        precisions += dynamic_cast<GibbsPrecisionChain<double>&>(*chain).precisions()[0] / steps;
    }
    BOOST_TEST(squares == square / total, boost::test_tools::tolerance(0.1));
    BOOST_TEST(precisions == precision / total, boost::test_tools::tolerance(0.1));
}

// New precisions take no gradients but for the first time, and the gradient after them is the one of the new potential.
BOOST_AUTO_TEST_CASE(work_is_counted) {
    const auto count = [](const auto& sampler) {
        const NetworkPotential<double> u = network<double>();
        const auto chain = sampler.template begin<double>(u.clone(), {std::vector<double>(11, 0.1), 6, 0, 0});
        std::vector<std::int64_t> gradients;
        for (int t = 0; t < 4; ++t) gradients.push_back(chain->step().gradients);
        return gradients;
    };
    const auto is = [](const std::vector<std::int64_t>& got, const std::vector<std::int64_t>& expected) {
        BOOST_TEST(got == expected, boost::test_tools::per_element());
    };
    is(count(GibbsPrecision<Sgld>{.sampler = {.batch = 4}}), {2, 1, 1, 1});
    is(count(GibbsPrecision<Sgld>{.sampler = {.batch = 4, .control_variate = {.every = 3}}}), {5, 2, 1, 2});
}

// A chain that hardly moves: its precisions are Gamma(a + n/2, b + |theta|^2 / 2), block by block, mean k / r and
// variance k / r^2; the likelihood's own parameter has none. |z| > 5 comes once in 1.7 million times.
BOOST_AUTO_TEST_CASE(conditional_law) {
    const NetworkPotential<double> u = network<double>();
    BOOST_TEST_REQUIRE(u.size() == 11);
    const GibbsPrecision<Sgld> sampler{.sampler = {.step_size = 1e-20, .batch = 4},
                                       .hyperprior = {.shape = 3, .rate = 2}};
    std::vector<double> at(11);
    for (std::size_t k = 0; k < 11; ++k) at[k] = 0.2 * static_cast<double>(k);
    const auto chain = sampler.begin<double>(u.clone(), {at, 6, 0, 0});
    const auto& precisions = dynamic_cast<GibbsPrecisionChain<double>&>(*chain).precisions();
    BOOST_TEST_REQUIRE(precisions.size() == 4u);
    const int steps = 4000;
    std::vector<double> sums(4), squares(4);
    for (int t = 0; t < steps; ++t) {
        chain->step();
        for (std::size_t k = 0; k < 4; ++k) {
            sums[k] += precisions[k];
            squares[k] += precisions[k] * precisions[k];
        }
    }
    for (std::size_t k = 0; k < 4; ++k) {
        double norm = 0;
        const Quantity& block_k = u.blocks()[k];
        for (std::int64_t i = 0; i < block_k.shape.size(); ++i) {
            const double w = at[static_cast<std::size_t>(block_k.offset + i)];
            norm += w * w;
        }
        const double shape = 3 + static_cast<double>(block_k.shape.size()) / 2, rate = 2 + norm / 2;
        const double mean = sums[k] / steps, variance = squares[k] / steps - mean * mean;
        BOOST_TEST(std::abs(mean - shape / rate) < 5 * std::sqrt(shape / steps) / rate);
        // The fourth central moment of a gamma variable is 3 k (k + 2) / r^4.
        const double error = std::sqrt((3 * shape * (shape + 2) - shape * shape) / steps) / (rate * rate);
        BOOST_TEST(std::abs(variance - shape / (rate * rate)) < 5 * error);
    }
}

// The draws of a run, and its files, have the precisions that the chain had.
BOOST_AUTO_TEST_CASE(precisions_are_drawn) {
    const TemporaryDirectory folder;
    const NetworkPotential<double> u = network<double>();
    const GibbsPrecision<Sgld> sampler{.sampler = {.batch = 4}, .hyperprior = {.every = 2}};
    const std::vector<double> at(11, 0.1);
    const Draws draws = run_chains(u, sampler,
                                   {.chains = 1,
                                    .warmup = 5,
                                    .draws = 20,
                                    .thin = 3,
                                    .seed = 6,
                                    .starts = {at},
                                    .directory = folder / "run",
                                    .show = Show::nothing});
    BOOST_TEST(draws.value_count() == 11 + 4);
    const Draws read = read_stan_csv(std::vector{folder / "run/chain_1.csv"});
    const auto chain = sampler.begin<double>(u.clone(), {at, 6, 0, 5});
    const auto& precisions = dynamic_cast<GibbsPrecisionChain<double>&>(*chain).precisions();
    for (int t = 0; t < 5; ++t) chain->step();
    for (std::int64_t i = 0; i < 20; ++i) {
        for (int t = 0; t < 3; ++t) chain->step();
        for (std::size_t k = 0; k < 4; ++k) {
            std::string name = u.blocks()[k].name + ".precision";
            BOOST_TEST(draws[name](0, i) == precisions[k]);
            std::replace(name.begin(), name.end(), '.', '_');  // as files have it
            BOOST_TEST(read[name](0, i) == precisions[k]);
        }
        BOOST_TEST(draws["2.bias"](0, i, 0) == chain->position()[9]);
    }
}

// It is a chain of a stochastic-gradient sampler like any other.
BOOST_AUTO_TEST_CASE(gradient_and_momentum) {
    const GibbsPrecision<Sghmc> sampler{.sampler = {.step_size = 1e-4, .friction = 0.5, .batch = 4}};
    const auto chain = sampler.begin<double>(network<double>().clone(), {std::vector<double>(11, 0.1), 6, 0, 0});
    auto* const stochastic = dynamic_cast<StochasticChain<double>*>(chain.get());
    BOOST_TEST_REQUIRE(stochastic);
    const std::vector<double> before(chain->position().begin(), chain->position().end());
    chain->step();
    BOOST_TEST(stochastic->gradient().size() == 11u);
    for (std::size_t k = 0; k < 11; ++k)
        BOOST_TEST(std::abs(chain->position()[k] - before[k] - stochastic->momentum()[k]) < 1e-12);
}

BOOST_AUTO_TEST_CASE(resume) {
    check_resume(GibbsPrecision<Sgld>{.sampler = {.batch = 4}}, network<double>(), 10, 25);
    check_resume(GibbsPrecision<Sghmc>{.sampler = {.batch = 4}, .hyperprior = {.every = 3}}, network<float>(), 10, 25);
    check_resume(GibbsPrecision<Sgld>{.sampler = {.batch = 4, .control_variate = {.every = 5}}}, network<double>(), 10,
                 25);
    const Preconditioner estimated = Preconditioner::rmsprop(0.9, 1e-5, Preconditioner::Gamma::estimated);
    check_resume(GibbsPrecision<Psgld>{.sampler = {.batch = 4, .preconditioner = estimated}}, network<double>(), 10,
                 25);
}

BOOST_AUTO_TEST_CASE(errors_and_description) {
    const auto error = [](const GammaHyperprior& hyperprior, std::unique_ptr<Potential<double>> u, double t = 1) {
        return error_of<ValueError>([&] {
            u->set_temperature(t);
            const std::vector<double> at(static_cast<std::size_t>(u->size()));
            GibbsPrecision<Sgld>{.hyperprior = hyperprior}.begin<double>(std::move(u), {at, 0, 0, 0})->step();
        });
    };
    BOOST_TEST(error({.shape = 0}, network<double>().clone()) == "GibbsPrecision: shape is 0; it must be positive");
    BOOST_TEST(error({.rate = -1}, network<double>().clone()) == "GibbsPrecision: rate is -1; it must be positive");
    BOOST_TEST(error({.every = 0}, network<double>().clone()) == "GibbsPrecision: every is 0; it must be positive");
    BOOST_TEST(error({}, standard_normal()) == "GibbsPrecision: the potential is not that of a network: written");
    BOOST_TEST(error({}, network<double>().clone(), 0) == "GibbsPrecision: the temperature is 0; it must be positive");
    BOOST_TEST(
        error({.shape = 0.1}, network<double>().clone(), 0.1) ==
        "GibbsPrecision: at temperature 0.1 the precision of 2.bias has no law; a shape of at least 1 is needed");
    BOOST_TEST(
        (GibbsPrecision<Sgld>{.sampler = {.step_size = 0.25}}.describe()) ==
        "GibbsPrecision(sampler = Sgld(step_size = 0.25, batch = 0, control_variate.every = 0), shape = 1, rate = "
        "1, every = 1)");
}

BOOST_AUTO_TEST_SUITE_END()
