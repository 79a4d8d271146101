#include <pollen/samplers/full_batch/mala.hpp>

#include <pollen/samplers/full_batch/hmc.hpp>

#include "../eight_schools.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(mala)

// The proposal with its density, and one leapfrog step: the same positions to rounding and the same decisions, with the
// same random numbers.
BOOST_AUTO_TEST_CASE(is_hmc_of_one_step) {
    std::vector<double> diagonal, dense;
    for (std::int64_t i = 0; i < dimension; ++i) {
        diagonal.push_back(sd_of(i) * sd_of(i));
        for (std::int64_t j = 0; j < dimension; ++j) dense.push_back(sd_of(i) * sd_of(j) * (i == j ? 1 : correlation));
    }
    for (const double t : {1.0, 0.5, 2.0}) {
        for (const MetricKind kind : {MetricKind::unit, MetricKind::diagonal, MetricKind::dense}) {
            const double e = kind == MetricKind::dense ? 1.5 : 0.2;
            const std::vector<double> metric = kind == MetricKind::unit       ? std::vector<double>{}
                                               : kind == MetricKind::diagonal ? diagonal
                                                                              : dense;
            const std::vector<double> at(dimension, 0.5);
            const auto one = Mala{.step_size = e, .metric = kind, .inverse_metric = metric}.begin(
                correlated_normal<double>(t), ChainStart<double>{at, 4, 1, 0});
            const auto other =
                Hmc{.step_size = std::sqrt(e * t), .steps = 1, .metric = kind, .inverse_metric = metric}.begin(
                    correlated_normal<double>(t), ChainStart<double>{at, 4, 1, 0});
            int accepted = 0;
            double worst = 0;
            std::vector<double> before = at, before_other = at;
            for (int step = 0; step < 300; ++step) {
                const StepStatistics a = one->step(), b = other->step();
                const bool moved = !std::ranges::equal(one->position(), before);
                BOOST_TEST_REQUIRE(moved == !std::ranges::equal(other->position(), before_other));
                worst = std::max(worst, std::abs(a.acceptance - b.acceptance));
                for (std::size_t k = 0; k < at.size(); ++k)
                    worst = std::max(worst, std::abs(one->position()[k] - other->position()[k]));
                before.assign(one->position().begin(), one->position().end());
                before_other.assign(other->position().begin(), other->position().end());
                accepted += moved;
            }
            BOOST_TEST(accepted > 100);
            BOOST_TEST(accepted < 300);
            BOOST_TEST(worst < 1e-11);
        }
    }
}

BOOST_AUTO_TEST_CASE(correlated_normal_moments) {
    const Run dense = run(Mala{.metric = MetricKind::dense}, *correlated_normal<double>(), 4000, 5000, 4);
    check_normal(dense);
    BOOST_TEST(std::abs(dense.acceptance - 0.574) < 0.2);
    check_normal(run(Mala{}, *correlated_normal<double>(), 4000, 5000, 30));
    check_normal(run(Mala{.metric = MetricKind::dense}, *correlated_normal<float>(), 4000, 5000, 4));
    for (const double t : {0.5, 2.0})
        check_normal(run(Mala{.metric = MetricKind::dense}, *correlated_normal<double>(t), 4000, 5000, 4), t);
}

// 20 z-scores, each beyond 4.5 once in 150,000 times.
BOOST_AUTO_TEST_CASE(eight_schools_moments) {
    BOOST_TEST(eight_schools_z(run<double>(Mala{}, eight_schools(), 2000, 10000, 10)) < 4.5);
}

// Six z-scores below 4.5 each: a false alarm in one of 25,000 tests.
BOOST_AUTO_TEST_CASE(leaves_the_target_invariant) {
    BOOST_TEST(invariance(Mala{.step_size = 1.5}) < 4.5);
    BOOST_TEST(invariance(Mala{.step_size = 1, .metric = MetricKind::dense, .inverse_metric = {1, 0.9, 0.9, 4}}) < 4.5);
}

BOOST_AUTO_TEST_CASE(resumes) {
    check_resume(Mala{}, *correlated_normal<double>());
    check_resume(Mala{.metric = MetricKind::dense}, *correlated_normal<float>(2));
}

BOOST_AUTO_TEST_CASE(rejects_what_is_not_a_number) { check_invalid(Mala{.step_size = 1}); }

BOOST_AUTO_TEST_CASE(errors) {
    check_common_errors("Mala", Mala{});
    const auto error = [](const Mala& options) {
        return error_of<ValueError>([&] { options.begin(standard_normal(), ChainStart<double>{{1, 1}, 0, 0, 0}); });
    };
    BOOST_TEST(error({.step_size = 0}) == "Mala: step_size is 0; it must be positive");
    BOOST_TEST(error({.step_size = std::nan("")}) == "Mala: step_size is nan; it must be positive");
    BOOST_TEST(error({.step_size = -1}) == "Mala: step_size is -1; it must be positive");
    BOOST_TEST(error({.target_acceptance = 0}) == "Mala: target_acceptance is 0; it must be between 0 and 1");
    BOOST_TEST(
        Mala{}.describe() ==
        "Mala(step_size = 0.1, target_acceptance = 0.574, metric = diagonal, inverse_metric = [], warmup = {step_size "
        "= adapted, metric = adapted, gamma = 0.05, t0 = 10, kappa = 0.75, first = 75, window = 25, last = 50})");
}

BOOST_AUTO_TEST_SUITE_END()
