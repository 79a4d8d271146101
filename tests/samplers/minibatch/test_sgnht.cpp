#include "minibatch_checks.hpp"

#include <pollen/samplers/minibatch/sgnht.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

// With a friction x that stays the law is that of SGHMC; x is the one whose kinetic temperature is T.
Matrix law_of(const Matrix& l, const Matrix& v, double h, double a, double t, double& x) {
    double low = 0, high = 1;
    Matrix law;
    for (int turn = 0; turn < 50; ++turn) {
        x = (low + high) / 2;
        law = sghmc_law(l, v, h, x, t, matrix(l.size(), 2 * (x - a) * t / h));
        (trace(block(law, l.size(), l.size())) / (h * static_cast<double>(l.size())) > t ? low : high) = x;
    }
    return block(law, 0, l.size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sgnht)

// The thermostat takes up a noise that it is not told of: kinetic temperature T, friction a + h V / (2T) or so, and the
// positions as SGHMC with that friction has them. A heavy thermostat moves little about its mean; what its movement
// changes in the law is of second order, some 0.3 %, and below the error. |z| > 5 comes once in 1.7 million times: a
// false alarm in one of 7,000 tests.
BOOST_AUTO_TEST_CASE(takes_up_unknown_noise) {
    const double h = 0.02, a = 0.1;
    for (const double t : {1.0, 0.1})
        for (const Matrix& l : {one_dimension(2), ten_dimensions()}) {
            const NoisyGaussian<double> potential(l, 0.1 * std::sqrt(t), 50, t);
            double friction = 0;
            const Matrix v = potential.noise(5), law = law_of(l, v, h, a, t, friction);
            BOOST_TEST(friction > 1.2 * a);
            const Sgnht sampler{.step_size = h, .friction = a, .mass = 40 * t, .batch = 5};
            const Moments got = moments(sampler, potential, law, 60000, 4, h, 20000);
            BOOST_TEST(got.worst < 5);
            BOOST_TEST(std::abs(got.kinetic - t) < 5 * got.kinetic_error);
            BOOST_TEST(std::abs(got.configurational - temperature_of(l, law)) < 5 * got.configurational_error);
            // A thermostat that is stuck (too heavy to move) leaves the noise in.
            const Sgnht stuck{.step_size = h, .friction = a, .mass = 1e12, .batch = 5};
            BOOST_TEST(moments(stuck, potential, law, 30000, 4).worst > 6);
        }
}

// The mean of the kinetic temperature is T but for how far the friction went: an identity.
BOOST_AUTO_TEST_CASE(kinetic_temperature) {
    const NoisyGaussian<double> potential(ten_dimensions(), 0.1);
    const double h = 0.02;
    const Sgnht sampler{.step_size = h, .friction = 0.1, .batch = 5};
    const auto chain = sampler.begin(potential.clone(), ChainStart<double>{std::vector<double>(10, 0.5), 1, 0, 0});
    double sum = 0;
    for (int t = 0; t < 1000; ++t) {
        chain->step();
        for (const double v : dynamic_cast<StochasticChain<double>&>(*chain).momentum()) sum += v * v / 10;
    }
    Saved saved;
    chain->visit(saved);
    BOOST_TEST(std::abs(saved.numbers.at("friction") - (0.1 + sum - 1000 * h)) < 1e-10);
}

BOOST_AUTO_TEST_CASE(resume) {
    check_resume(Sgnht{.step_size = 0.01, .batch = 5}, NoisyGaussian<double>(ten_dimensions(), 0.1), 10, 25);
    check_resume(Sgnht{.step_size = 0.01, .batch = 5}, NoisyGaussian<float>(ten_dimensions(), 0.1), 10, 25);
}

BOOST_AUTO_TEST_CASE(threads) { check_threads(Sgnht{.step_size = 0.1}); }

BOOST_AUTO_TEST_CASE(invalid_points) {
    check_invalid(Sgnht{.step_size = 0.3, .friction = 0.5});
    check_invalid_gradient(Sgnht{.step_size = 0.1, .friction = 0.5, .batch = 5});
}

BOOST_AUTO_TEST_CASE(errors_and_description) {
    check_stochastic_errors("Sgnht", Sgnht{.batch = 5});
    const auto error = [&](const Sgnht& sampler) {
        return error_of<ValueError>([&] { sampler.begin(standard_normal(1), ChainStart<double>{{3}, 8, 0, 0}); });
    };
    BOOST_TEST(error({.step_size = 0}) == "Sgnht: step_size is 0; it must be positive");
    BOOST_TEST(error({.friction = -1}) == "Sgnht: friction is -1; it must not be negative");
    BOOST_TEST(error({.friction = 2}) == "Sgnht: friction is 2; it must not be above 1");
    BOOST_TEST(error({.mass = 0}) == "Sgnht: mass is 0; it must be positive");
    BOOST_TEST((Sgnht{.step_size = 0.25}.describe()) == "Sgnht(step_size = 0.25, friction = 0.1, mass = 1, batch = 0)");
}

BOOST_AUTO_TEST_SUITE_END()
