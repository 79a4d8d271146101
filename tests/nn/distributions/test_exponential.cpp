#include "checks.hpp"

#include <pollen/nn/distributions/exponential.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::Exponential;

BOOST_AUTO_TEST_SUITE(exponential_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<Exponential, 1>(exponential_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto r) { return exponential_lpdf(x, r); };
    check_gradients(f, uniforms({9}, 0.5, 2, 1), uniforms({9}, 1, 2, 2));
    check_gradients(f, uniforms({9}, 0.5, 2, 1), uniforms({}, 1, 2, 2));
    check_gradients(f, uniforms({4, 1}, 0.5, 2, 1), uniforms({3}, 1, 2, 2));
    check_pathwise([](auto r) { return Exponential(r).rsample({2, 3}, {.seed = 1}); }, uniforms({3}, 1, 2));
    check_gradients([](auto r, auto s) { return kl(Exponential(r), Exponential(s)); }, uniforms({3}, 1, 2, 1),
                    uniforms({2, 1}, 1, 2, 2));
}

// Outside the support: -infinity, and zeros for gradients. NaN stays NaN.
BOOST_AUTO_TEST_CASE(edges) {
    check_outside([](const auto& x, const auto& r) { return Exponential(r).log_prob(x); }, {-1e-9, -2, -1e300}, 2.0);
    BOOST_TEST(std::isnan(Exponential<double>(2.0).log_prob_each({NAN}).item()));
    BOOST_TEST(std::isnan(Exponential<double>(2.0).cdf({NAN}).item()));
}

BOOST_AUTO_TEST_CASE(moments) {
    BOOST_TEST(Exponential<double>(4).mean().item() == 0.25);
    BOOST_TEST(Exponential<double>(4).variance().item() == 0.0625);
    BOOST_TEST(Exponential<double>(4).log_prob_each({0}).item() == std::log(4.0));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { Exponential<double>(-1); }) == "Exponential: rate is -1; it must be positive");
}

BOOST_AUTO_TEST_CASE(draws) {
    check_draws(Exponential<double>(3), 1);
    check_kl(Exponential<double>(3), Exponential<double>(0.7), 2);
}

BOOST_AUTO_TEST_SUITE_END()
