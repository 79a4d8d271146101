#include "noisy_gaussian.hpp"

#include <pollen/samplers/sgld.hpp>
#include <pollen/samplers/weighted.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(sgld)

// The stationary covariance at the step used, every entry, and the temperature that follows from it. z-scores beyond 5
// come once in 1.7 million times, 55 entries and four cases: a false alarm in one of 7,000 tests.
BOOST_AUTO_TEST_CASE(exact_law) {
    for (const double t : {1.0, 0.1})
        for (const Matrix& l : {one_dimension(2), ten_dimensions()}) {
            const NoisyGaussian<double> potential(l, 0.3 * std::sqrt(t), 50, t);
            const double e = 0.2;
            const Matrix v = potential.noise(5), law = sgld_law(l, v, e, t);
            if (l.size() == 1) {
                const double a = e * l[0][0] / 2;
                BOOST_TEST(std::abs(law[0][0] / ((e * t + e * e * v[0][0] / 4) / (2 * a - a * a)) - 1) < 1e-12);
            }
            const Moments got = moments(Sgld{.step_size = e, .batch = 5}, potential, law, 60000, 3);
            BOOST_TEST(got.worst < 5);
            const double expected = temperature_of(l, law);
            BOOST_TEST(std::abs(got.configurational - expected) < 5 * got.configurational_error);
            BOOST_TEST(std::abs(expected - t) > 20 * got.configurational_error);  // the step is far from exact
            BOOST_TEST(got.invalid == 0);
            // Of a chain that forgets the gradient's noise, or T, the law is another one.
            BOOST_TEST(moments(Sgld{.step_size = e}, potential, law, 20000, 3).worst > 8);
        }
}

BOOST_AUTO_TEST_CASE(float_and_full_batch) {
    const NoisyGaussian<float> potential(ten_dimensions(), 0.3);
    const Matrix none = matrix(10), law = sgld_law(ten_dimensions(), none, 0.2, 1);
    BOOST_TEST(moments(Sgld{.step_size = 0.2}, potential, law, 30000, 3).worst < 5);
    BOOST_TEST(moments(Sgld{.step_size = 0.2, .batch = 50}, potential, law, 30000, 3).worst < 5);
}

// Where the noise does not depend on theta, a control variate takes away all of it.
BOOST_AUTO_TEST_CASE(control_variate) {
    const NoisyGaussian<double> potential(ten_dimensions(), 0.3);
    const Matrix law = sgld_law(ten_dimensions(), matrix(10), 0.2, 1);
    const Sgld sampler{.step_size = 0.2, .batch = 5, .control_variate = {.every = 20}};
    BOOST_TEST(moments(sampler, potential, law, 30000, 3).worst < 5);
    const auto chain = sampler.begin(potential.clone(), ChainStart<double>{std::vector<double>(10), 1, 0, 0});
    std::int64_t gradients = 0;
    for (int k = 0; k < 40; ++k) gradients += chain->step().gradients;
    BOOST_TEST(gradients == 2 * (19 * 2 + 1));
}

// Teh's theorem: averages are weighted by the step that leaves a position, which is known before it is done. With steps
// e_t the variance at step t is s_{t+1} = (1 - a_t)^2 s_t + e_t T + e_t^2 V / 4 exactly; its weighted mean is compared.
// The tolerance is five standard errors, sqrt(2 / r) in r = sum e_t L / 2 relaxation times: a false alarm in one of
// 10^6.
BOOST_AUTO_TEST_CASE(weights) {
    const NoisyGaussian<double> potential(one_dimension(1), 0.05);
    const double v = potential.noise(5)[0][0];
    const Sgld sampler{.step_size = Schedule::polynomial_between(0.4, 0.005, 0.4, 300000), .batch = 5};
    const auto chain = sampler.begin(potential.clone(), ChainStart<double>{{0.5}, 8, 0, 0});
    WeightedMoments weighted(1);
    double relaxations = 0, expected = 0, s = 0;
    for (int t = 0; t < 300000; ++t) {
        const double e = chain->weight();
        weighted.add(chain->position(), e);
        relaxations += e / 2;
        expected += e / 2 * s;
        s = (1 - e / 2) * (1 - e / 2) * s + e + e * e * v / 4;
        BOOST_REQUIRE(chain->step().step_size == e);
    }
    BOOST_TEST(chain->weight() < 0.005);
    BOOST_TEST(std::abs(weighted.mean[0] - 0.5) < 5 * std::sqrt(2 / relaxations));
    BOOST_TEST(std::abs(weighted.variance()[0] - expected / relaxations) < 5 * std::sqrt(2 / relaxations));
    BOOST_TEST(std::abs(expected / relaxations - 1) < 0.02);
    BOOST_TEST(relaxations > 1000);
}

BOOST_AUTO_TEST_CASE(resume) {
    const NoisyGaussian<double> potential(ten_dimensions(), 0.3);
    const NoisyGaussian<float> in_float(ten_dimensions(), 0.3);
    const Schedule falling = Schedule::polynomial(0.1, 1, 0.5);
    check_resume(Sgld{.step_size = falling, .batch = 5}, potential, 10, 25);
    check_resume(Sgld{.step_size = falling, .batch = 5}, in_float, 10, 25);
    check_resume(Sgld{.step_size = falling, .batch = 5, .control_variate = {.every = 7}}, potential, 10, 25);
}

BOOST_AUTO_TEST_CASE(threads) { check_threads(Sgld{.step_size = 0.1}); }

BOOST_AUTO_TEST_CASE(invalid_points) {
    check_invalid(Sgld{.step_size = 0.5});
    check_invalid_gradient(Sgld{.step_size = 0.5, .batch = 5});
    check_invalid_gradient(Sgld{.step_size = 0.5, .batch = 5, .control_variate = {.every = 3}});
}

// At T = 0 it is SGD.
BOOST_AUTO_TEST_CASE(without_temperature) {
    const NoisyGaussian<double> potential(one_dimension(2), 0.3, 50, 0);
    const auto chain = Sgld{.step_size = 0.5}.begin(potential.clone(), ChainStart<double>{{3}, 8, 0, 0});
    for (int t = 0; t < 100; ++t) chain->step();
    BOOST_TEST(std::abs(chain->position()[0] - 0.5) < 1e-12);
}

BOOST_AUTO_TEST_CASE(errors_and_description) {
    check_stochastic_errors("Sgld", Sgld{.batch = 5});
    const NoisyGaussian<double> potential(one_dimension(2), 0.3);
    const auto error = [&](const Sgld& sampler, int steps = 0) {
        return error_of<ValueError>([&] {
            const auto chain = sampler.begin(potential.clone(), ChainStart<double>{{3}, 8, 0, 0});
            for (int t = 0; t < steps; ++t) chain->step();
        });
    };
    BOOST_TEST(error({.step_size = 0}) == "Sgld: step_size is 0; it must be positive");
    BOOST_TEST(error({.step_size = Schedule("odd", [](std::int64_t t) { return t < 3 ? 0.1 : -1; })}, 5) ==
               "Sgld: step_size is -1 at step 3; it must be finite and not negative");
    BOOST_TEST(error({.control_variate = {.every = 3}}) ==
               "Sgld: a control variate is for batches, but batch is 0, all items");
    BOOST_TEST(error({.batch = 5, .control_variate = {.every = -3}}) ==
               "Sgld: control_variate.every is -3; it must not be negative");
    BOOST_TEST((Sgld{.step_size = 0.25, .batch = 5}.describe()) ==
               "Sgld(step_size = 0.25, batch = 5, control_variate.every = 0)");
}

BOOST_AUTO_TEST_SUITE_END()
