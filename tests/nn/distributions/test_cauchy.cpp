#include "checks.hpp"

#include <pollen/nn/distributions/cauchy.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::Cauchy;

BOOST_AUTO_TEST_SUITE(cauchy_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<Cauchy, 2>(cauchy_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto m, auto s) { return cauchy_lpdf(x, m, s); };
    check_gradients(f, normals({9}, 1), normals({9}, 2), uniforms({9}, 1, 2, 3));
    check_gradients(f, normals({9}, 1), normals({}, 2), uniforms({}, 1, 2, 3));
    check_gradients(f, normals({4, 1}, 1), normals({3}, 2), uniforms({2, 1, 1}, 1, 2, 3));
    check_pathwise(
        [](auto m, auto s) {
            return Cauchy(m, s).rsample({2, 3}, {.seed = 1});
        },
        normals({3}), uniforms({3}, 1, 2));
}

BOOST_AUTO_TEST_CASE(moments) {
    BOOST_TEST(std::isnan(Cauchy<double>(1, 2).mean().item()));
    BOOST_TEST(std::isnan(Cauchy<double>(1, 2).variance().item()));
    BOOST_TEST(std::isnan(Cauchy<double>(1, 2).log_prob_each({NAN}).item()));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { Cauchy<double>(0, -1); }) == "Cauchy: scale is -1; it must be positive");
}

BOOST_AUTO_TEST_CASE(draws) { check_draws(Cauchy<double>(-1, 2), 1); }

BOOST_AUTO_TEST_SUITE_END()
