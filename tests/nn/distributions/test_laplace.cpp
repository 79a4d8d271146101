#include "checks.hpp"

#include <pollen/nn/distributions/laplace.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::Laplace;

BOOST_AUTO_TEST_SUITE(laplace_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<Laplace, 2>(laplace_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto m, auto s) { return laplace_lpdf(x, m, s); };
    check_gradients(f, uniforms({9}, 1, 2, 1), uniforms({9}, -2, -1, 2), uniforms({9}, 1, 2, 3));
    check_gradients(f, uniforms({9}, -3, -2, 1), uniforms({}, -1, 2, 2), uniforms({}, 1, 2, 3));
    check_gradients(f, uniforms({4, 1}, 1, 2, 1), uniforms({3}, -1, 0.5, 2), uniforms({2, 1, 1}, 1, 2, 3));
    check_pathwise(
        [](auto m, auto s) {
            return Laplace(m, s).rsample({2, 3}, {.seed = 1});
        },
        normals({3}), uniforms({3}, 1, 2));
    check_gradients([](auto m, auto s, auto n, auto t) { return kl(Laplace(m, s), Laplace(n, t)); },
                    uniforms({3}, 0.5, 1, 1), uniforms({3}, 1, 2, 2), uniforms({3}, 2, 3, 1), uniforms({3}, 1, 2, 2));
}

BOOST_AUTO_TEST_CASE(moments) {
    BOOST_TEST(Laplace<double>(1, 2).mean().item() == 1);
    BOOST_TEST(Laplace<double>(1, 2).variance().item() == 8);
    BOOST_TEST(std::isnan(Laplace<double>(1, 2).log_prob_each({NAN}).item()));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { Laplace<double>(0, -1); }) == "Laplace: scale is -1; it must be positive");
}

BOOST_AUTO_TEST_CASE(draws) {
    check_draws(Laplace<double>(-1, 2), 1);
    check_kl(Laplace<double>(-1, 2), Laplace<double>(0.5, 1), 2);
}

BOOST_AUTO_TEST_SUITE_END()
