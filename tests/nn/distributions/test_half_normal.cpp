#include "checks.hpp"

#include <pollen/nn/distributions/half_normal.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::HalfNormal;

BOOST_AUTO_TEST_SUITE(half_normal_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<HalfNormal, 1>(half_normal_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto s) { return half_normal_lpdf(x, s); };
    check_gradients(f, uniforms({9}, 0.5, 2, 1), uniforms({9}, 1, 2, 2));
    check_gradients(f, uniforms({9}, 0.5, 2, 1), uniforms({}, 1, 2, 2));
    check_gradients(f, uniforms({4, 1}, 0.5, 2, 1), uniforms({3}, 1, 2, 2));
    check_pathwise([](auto s) { return HalfNormal(s).rsample({2, 3}, {.seed = 1}); }, uniforms({3}, 1, 2));
}

// Outside the support: -infinity, and zeros for gradients. NaN stays NaN.
BOOST_AUTO_TEST_CASE(edges) {
    check_outside([](const auto& x, const auto& s) { return HalfNormal(s).log_prob(x); }, {-1e-9, -2, -1e300}, 2.0);
    BOOST_TEST(std::isnan(HalfNormal<double>(2.0).log_prob_each({NAN}).item()));
    BOOST_TEST(std::isnan(HalfNormal<double>(2.0).cdf({NAN}).item()));
}

BOOST_AUTO_TEST_CASE(moments) {
    const HalfNormal<double> law(2);
    BOOST_TEST(law.mean().item() == 1.5957691216057308, boost::test_tools::tolerance(1e-14));
    BOOST_TEST(law.variance().item() == 1.4535209105296747, boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] {
                   HalfNormal<double>(Tensor<double>{1, -2});
               }) == "HalfNormal: sd is -2 at element 1; it must be positive");
}

BOOST_AUTO_TEST_CASE(draws) { check_draws(HalfNormal<double>(2), 1); }

BOOST_AUTO_TEST_SUITE_END()
