#include <pollen/samplers/full_batch/nuts.hpp>

#include "../eight_schools.hpp"
#include "recursive_nuts.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(nuts)

// Every step from the same point as a plain recursion with the same random numbers: the same tree and the same draw.
void check_recursion(const Potential<double>& potential, double step_size, const std::vector<double>& at, int max_depth,
                     int least_depth, bool divergences) {
    std::vector<double> inverse(at.size());
    for (std::size_t i = 0; i < inverse.size(); ++i) inverse[i] = 0.5 + static_cast<double>(i % 3);
    const Nuts options{.step_size = step_size, .max_depth = max_depth, .inverse_metric = inverse};
    std::vector<double> now = at;
    int deepest = 0, diverged = 0;
    for (std::uint32_t c = 0; c < 300; ++c) {
        const auto chain = options.begin(potential.clone(), ChainStart<double>{now, 8, c, 0});
        RecursiveNuts plain(potential.clone(), now, inverse, step_size, max_depth, 8, c);
        const StepStatistics s = chain->step();
        plain.step();
        BOOST_TEST_REQUIRE(s.tree_depth == plain.depth());
        BOOST_TEST_REQUIRE(s.gradients == plain.leapfrogs());
        BOOST_TEST_REQUIRE(s.divergent == plain.divergent());
        BOOST_TEST_REQUIRE(std::abs(s.acceptance - plain.acceptance()) < 1e-8);
        for (std::size_t k = 0; k < at.size(); ++k)
            BOOST_TEST_REQUIRE(std::abs(chain->position()[k] - plain.position()[k]) < 1e-8);
        now.assign(chain->position().begin(), chain->position().end());
        deepest = std::max(deepest, static_cast<int>(s.tree_depth));
        diverged += s.divergent;
    }
    BOOST_TEST(deepest >= least_depth);
    BOOST_TEST((diverged > 0) == divergences);
}

BOOST_AUTO_TEST_CASE(equals_plain_recursion) {
    check_recursion(*correlated_normal<double>(), 0.15, std::vector<double>(dimension, 1), 10, 5, false);
    check_recursion(*correlated_normal<double>(), 0.02, std::vector<double>(dimension, 1), 6, 6, false);
    check_recursion(eight_schools(), 0.3, std::vector<double>(10, 0.1), 10, 3, false);
    check_recursion(eight_schools_centred(), 0.6, std::vector<double>(10, 0.1), 10, 3, true);
}

BOOST_AUTO_TEST_CASE(correlated_normal_moments) {
    const Run diagonal = run(Nuts{}, *correlated_normal<double>(), 500, 4000);
    check_normal(diagonal);
    BOOST_TEST(diagonal.acceptance > 0.75);
    BOOST_TEST(diagonal.acceptance < 0.95);
    BOOST_TEST(diagonal.divergences == 0);
    check_normal(run(Nuts{.metric = MetricKind::dense}, *correlated_normal<double>(), 500, 2000));
    check_normal(run(Nuts{}, *correlated_normal<float>(), 500, 4000));
    const Nuts fixed{.step_size = 0.2, .metric = MetricKind::unit, .warmup = {.step_size = false}};
    check_normal(run(fixed, *correlated_normal<double>(), 100, 4000));
    for (const double t : {0.5, 2.0}) check_normal(run(Nuts{}, *correlated_normal<double>(t), 500, 4000), t);
}

// 20 z-scores, each beyond 4.5 once in 150,000 times. Without the Jacobian of tau = exp(x), the same test fails, though
// with fewer draws: log tau goes off to minus infinity then.
BOOST_AUTO_TEST_CASE(eight_schools_moments) {
    const Run good = run<double>(Nuts{}, eight_schools(), 1000, 5000);
    BOOST_TEST(eight_schools_z(good) < 4.5);
    BOOST_TEST(good.acceptance > 0.75);
    BOOST_TEST(good.acceptance < 0.95);
    BOOST_TEST(eight_schools_z(run<double>(Nuts{.max_depth = 6}, WithoutJacobian(), 500, 1000)) > 8);
}

// The funnel of the centred parameterisation: Stan diverges there, and so does this.
BOOST_AUTO_TEST_CASE(centred_eight_schools_diverge) {
    BOOST_TEST(run<double>(Nuts{}, eight_schools_centred(), 1000, 1000).divergences > 5);
}

// Six z-scores below 4.5 each: a false alarm in one of 25,000 tests.
BOOST_AUTO_TEST_CASE(leaves_the_target_invariant) {
    BOOST_TEST(invariance(Nuts{.step_size = 0.9}) < 4.5);
    BOOST_TEST(invariance(Nuts{.step_size = 1.4, .max_depth = 2}) < 4.5);
    BOOST_TEST(invariance(Nuts{.step_size = 0.8, .metric = MetricKind::dense, .inverse_metric = {1, 0.9, 0.9, 4}}) <
               4.5);
}

BOOST_AUTO_TEST_CASE(statistics) {
    const auto chain =
        Nuts{.step_size = 0.001, .max_depth = 4}.begin(standard_normal(), ChainStart<double>{{1, 1}, 1, 0, 0});
    const StepStatistics s = chain->step();
    BOOST_TEST(s.tree_depth == 4);
    BOOST_TEST(s.gradients == 15);
    BOOST_TEST(s.step_size == 0.001);
    BOOST_TEST(s.acceptance > 0.999);
    const double x = chain->position()[0], y = chain->position()[1];
    BOOST_TEST(std::abs(s.energy - (x * x + y * y) / 2) < 1e-15);
    BOOST_TEST(s.hamiltonian > s.energy);
}

BOOST_AUTO_TEST_CASE(resumes) {
    check_resume(Nuts{}, *correlated_normal<double>());
    check_resume(Nuts{.metric = MetricKind::dense}, *correlated_normal<float>(2));
    check_resume(Nuts{}, static_cast<const Potential<double>&>(eight_schools()), 160, 200);
}

BOOST_AUTO_TEST_CASE(rejects_what_is_not_a_number) { check_invalid(Nuts{.step_size = 0.5}); }

BOOST_AUTO_TEST_CASE(errors) {
    check_common_errors("Nuts", Nuts{});
    const auto error = [](const Nuts& options) {
        return error_of<ValueError>([&] { options.begin(standard_normal(), ChainStart<double>{{1, 1}, 0, 0, 0}); });
    };
    BOOST_TEST(error({.step_size = 0}) == "Nuts: step_size is 0; it must be positive");
    BOOST_TEST(error({.step_size = std::nan("")}) == "Nuts: step_size is nan; it must be positive");
    BOOST_TEST(error({.max_depth = 0}) == "Nuts: max_depth is 0; it must be from 1 to 30");
    BOOST_TEST(error({.max_error = 0}) == "Nuts: max_error is 0; it must be positive");
    BOOST_TEST(error({.target_acceptance = 2}) == "Nuts: target_acceptance is 2; it must be between 0 and 1");
    BOOST_TEST(Nuts{}.describe() ==
               "Nuts(step_size = 1, max_depth = 10, target_acceptance = 0.8, max_error = 1000, metric = diagonal, "
               "inverse_metric = [], warmup = {step_size = adapted, metric = adapted, gamma = 0.05, t0 = 10, kappa = "
               "0.75, first = 75, window = 25, last = 50})");
    Written<double> steep(1, [](std::span<const double> x, std::span<double> g) {
        if (!g.empty()) g[0] = NAN;
        return x[0];
    });
    BOOST_TEST(error_of<ValueError>([&] {
                   Nuts{}.begin(steep.clone(), ChainStart<double>{{1}, 0, 0, 0});
               }) == "Nuts: the gradient is nan at the start, for x; it must be finite");
    // An exception of the model goes through.
    Written<double> broken(1, [n = 0](std::span<const double> x, std::span<double> g) mutable {
        if (++n == 5) throw std::runtime_error("model");
        if (!g.empty()) g[0] = x[0];
        return x[0] * x[0] / 2;
    });
    const auto chain = Nuts{.step_size = 0.1}.begin(broken.clone(), ChainStart<double>{{1}, 0, 0, 0});
    BOOST_TEST(error_of<std::runtime_error>([&] { chain->step(); }) == "model");
}

BOOST_AUTO_TEST_SUITE_END()
