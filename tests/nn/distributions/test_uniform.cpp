#include "checks.hpp"

#include <pollen/nn/distributions/uniform.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::Uniform;

BOOST_AUTO_TEST_SUITE(uniform_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<Uniform, 2>(uniform_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto l, auto h) { return uniform_lpdf(x, l, h); };
    check_gradients(f, uniforms({9}, 0, 1, 1), uniforms({9}, -2, -1, 2), uniforms({9}, 2, 3, 3));
    check_gradients(f, uniforms({9}, 0, 1, 1), uniforms({}, -2, -1, 2), uniforms({1}, 2, 3, 3));
    check_gradients(f, uniforms({4, 1}, 0, 1, 1), uniforms({3}, -2, -1, 2), uniforms({2, 1, 1}, 2, 3, 3));
    check_pathwise(
        [](auto l, auto h) {
            return Uniform(l, h).rsample({2, 3}, {.seed = 1});
        },
        uniforms({3}, -2, -1, 2), uniforms({2, 1}, 2, 3, 3));
}

BOOST_AUTO_TEST_CASE(edges) {
    check_outside([](const auto& x, const auto& l, const auto& h) { return Uniform(l, h).log_prob(x); },
                  {-1, 4.1, INFINITY, -INFINITY}, 2.0, 4.0);
    BOOST_TEST((Uniform<double>(2, 4).log_prob_each({2, 4}) == Tensor<double>{-std::log(2.0), -std::log(2.0)}));
    BOOST_TEST(std::isnan(Uniform<double>(2, 4).log_prob_each({NAN}).item()));
    BOOST_TEST((Uniform<double>(2, 4).cdf({-INFINITY, 2, 3, 5}) == Tensor<double>{0, 0, 0.5, 1}));
}

BOOST_AUTO_TEST_CASE(moments) {
    BOOST_TEST(Uniform<double>(2, 4).mean().item() == 3);
    BOOST_TEST(Uniform<double>(2, 4).variance().item() == 1.0 / 3, boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { Uniform<double>(2, 1); }) ==
               "Uniform: low is 2 and high is 1; low must be below high, and both finite");
    BOOST_TEST(error_of<ValueError>([] {
                   Uniform<double>(Tensor<double>{0, 1}, 1);
               }) == "Uniform: low is 1 and high is 1 at element 1; low must be below high, and both finite");
}

BOOST_AUTO_TEST_CASE(draws) { check_draws(Uniform<double>(-1, 2), 1); }

BOOST_AUTO_TEST_SUITE_END()
