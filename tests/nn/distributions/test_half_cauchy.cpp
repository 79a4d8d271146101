#include "checks.hpp"

#include <pollen/nn/distributions/half_cauchy.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::HalfCauchy;

BOOST_AUTO_TEST_SUITE(half_cauchy_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<HalfCauchy, 1>(half_cauchy_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto s) { return half_cauchy_lpdf(x, s); };
    check_gradients(f, uniforms({9}, 0.5, 2, 1), uniforms({9}, 1, 2, 2));
    check_gradients(f, uniforms({9}, 0.5, 2, 1), uniforms({}, 1, 2, 2));
    check_gradients(f, uniforms({4, 1}, 0.5, 2, 1), uniforms({3}, 1, 2, 2));
    check_pathwise([](auto s) { return HalfCauchy(s).rsample({2, 3}, {.seed = 1}); }, uniforms({3}, 1, 2));
}

// Outside the support: -infinity, and zeros for gradients. NaN stays NaN.
BOOST_AUTO_TEST_CASE(edges) {
    check_outside([](const auto& x, const auto& s) { return HalfCauchy(s).log_prob(x); }, {-1e-9, -2, -1e300}, 2.0);
    BOOST_TEST(std::isnan(HalfCauchy<double>(2.0).log_prob_each({NAN}).item()));
    BOOST_TEST(std::isnan(HalfCauchy<double>(2.0).cdf({NAN}).item()));
}

BOOST_AUTO_TEST_CASE(moments) {
    BOOST_TEST(HalfCauchy<double>(2).mean().item() == INFINITY);
    BOOST_TEST(HalfCauchy<double>(2).variance().item() == INFINITY);
    BOOST_TEST(HalfCauchy<double>(2).log_prob_each({0}).item() == -1.1447298858494002,
               boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { HalfCauchy<double>(0); }) == "HalfCauchy: scale is 0; it must be positive");
}

BOOST_AUTO_TEST_CASE(draws) { check_draws(HalfCauchy<double>(2), 1); }

BOOST_AUTO_TEST_SUITE_END()
