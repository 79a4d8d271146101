#include <pollen/samplers/full_batch/metropolis.hpp>

#include "../eight_schools.hpp"

#include <numeric>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(metropolis)

BOOST_AUTO_TEST_CASE(correlated_normal_moments) {
    const Metropolis dense{.metric = MetricKind::dense};
    const Run r = run(dense, *correlated_normal<double>(), 20000, 10000, 5);
    check_normal(r);
    BOOST_TEST(std::abs(r.acceptance - (0.234 + 0.0206)) < 0.08);
    check_normal(run(dense, *correlated_normal<float>(), 20000, 10000, 5));
    check_normal(run(Metropolis{}, *correlated_normal<double>(), 20000, 10000, 30));
    for (const double t : {0.5, 2.0}) check_normal(run(dense, *correlated_normal<double>(t), 20000, 10000, 5), t);
}

// 20 z-scores, each beyond 4.5 once in 150,000 times.
BOOST_AUTO_TEST_CASE(eight_schools_moments) {
    BOOST_TEST(eight_schools_z(run<double>(Metropolis{}, eight_schools(), 5000, 10000, 30)) < 4.5);
}

BOOST_AUTO_TEST_CASE(acceptance_by_dimension) {
    for (const std::int64_t d : {1, 2, 5, 40}) {
        const Run r = run(Metropolis{}, *standard_normal(d), 4000, 4000);
        BOOST_TEST(std::abs(r.acceptance - (0.234 + 0.206 / static_cast<double>(d))) < 0.08);
    }
    const Run r =
        run(Metropolis{.target_acceptance = 0.6, .metric = MetricKind::unit}, *standard_normal(3), 4000, 4000);
    BOOST_TEST(std::abs(r.acceptance - 0.6) < 0.08);
}

// Six z-scores below 4.5 each: a false alarm in one of 25,000 tests.
BOOST_AUTO_TEST_CASE(leaves_the_target_invariant) {
    BOOST_TEST(invariance(Metropolis{.inverse_metric = {1, 9}}) < 4.5);
    BOOST_TEST(invariance(Metropolis{.metric = MetricKind::dense, .inverse_metric = {1, 0.9, 0.9, 4}}) < 4.5);
}

// Windows of 20 and 60 steps after the first 10; the metric is that of the positions in each, and of no others.
BOOST_AUTO_TEST_CASE(windows) {
    const auto chain = Metropolis{.first = 10, .window = 20, .last = 15}.begin(standard_normal(),
                                                                               ChainStart<double>{{1, 1}, 3, 0, 105});
    std::vector<double> positions, metric = chain->inverse_metric();
    std::vector<int> changes;
    for (int t = 0; t < 130; ++t) {
        chain->step();
        positions.push_back(chain->position()[0]);
        if (chain->inverse_metric() == metric) continue;
        metric = chain->inverse_metric();
        changes.push_back(t);
        const auto begin = positions.begin() + (changes.size() == 1 ? 10 : 30);
        const auto n = static_cast<double>(positions.end() - begin);
        const double mean = std::accumulate(begin, positions.end(), 0.0) / n;
        double squares = 0;
        for (auto x = begin; x != positions.end(); ++x) squares += (*x - mean) * (*x - mean);
        BOOST_TEST(metric[0] == n / (n + 5) * squares / (n - 1) + 5e-3 / (n + 5), boost::test_tools::tolerance(1e-12));
    }
    BOOST_TEST(changes == (std::vector{29, 89}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(resumes) {
    check_resume(Metropolis{}, *correlated_normal<double>());
    check_resume(Metropolis{.metric = MetricKind::dense}, *correlated_normal<float>(2));
    check_resume(Metropolis{.metric = MetricKind::unit}, *correlated_normal<double>());
}

BOOST_AUTO_TEST_CASE(rejects_what_is_not_a_number) { check_invalid(Metropolis{}); }

BOOST_AUTO_TEST_CASE(errors) {
    check_common_errors("Metropolis", Metropolis{});
    const auto error = [](const Metropolis& options) {
        return error_of<ValueError>([&] { options.begin(standard_normal(), ChainStart<double>{{1, 1}, 0, 0, 100}); });
    };
    BOOST_TEST(error({.step_size = 0}) == "Metropolis: step_size is 0; it must be positive");
    BOOST_TEST(error({.step_size = std::nan("")}) == "Metropolis: step_size is nan; it must be positive");
    BOOST_TEST(error({.target_acceptance = 0}) == "Metropolis: target_acceptance is 0; it must be between 0 and 1");
    BOOST_TEST(error({.first = -1}) == "Metropolis: first is -1; it must not be negative");
    BOOST_TEST(error({.window = 0}) == "Metropolis: window is 0; at least 1 is needed");
    BOOST_TEST(Metropolis{}.describe() ==
               "Metropolis(step_size = 2.38, target_acceptance = by dimension, metric = diagonal, inverse_metric = [], "
               "adapt = yes, first = 75, window = 25, last = 50)");
}

BOOST_AUTO_TEST_SUITE_END()
