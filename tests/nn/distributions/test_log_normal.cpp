#include "checks.hpp"

#include <pollen/nn/distributions/log_normal.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::LogNormal;

BOOST_AUTO_TEST_SUITE(log_normal_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<LogNormal, 2>(log_normal_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto m, auto s) { return log_normal_lpdf(x, m, s); };
    check_gradients(f, uniforms({9}, 1, 2, 1), normals({9}, 2), uniforms({9}, 1, 2, 3));
    check_gradients(f, uniforms({9}, 1, 2, 1), normals({}, 2), uniforms({}, 1, 2, 3));
    check_gradients(f, uniforms({4, 1}, 1, 2, 1), normals({3}, 2), uniforms({2, 1, 1}, 1, 2, 3));
    check_pathwise(
        [](auto m, auto s) {
            return LogNormal(m, s).rsample({2, 3}, {.seed = 1});
        },
        normals({3}), uniforms({3}, 0.5, 1));
    check_gradients([](auto m, auto s, auto n, auto t) { return kl(LogNormal(m, s), LogNormal(n, t)); },
                    normals({3}, 1), uniforms({3}, 1, 2, 2), normals({3}, 3), uniforms({3}, 1, 2, 4));
}

// Outside the support: -infinity, and zeros for gradients. NaN stays NaN.
BOOST_AUTO_TEST_CASE(edges) {
    check_outside([](const auto& x, const auto& m, const auto& s) { return LogNormal(m, s).log_prob(x); },
                  {-1e-9, -2, 0, -1e300, INFINITY}, 0.5, 2.0);
    BOOST_TEST(std::isnan(LogNormal<double>(0.5, 2.0).log_prob_each({NAN}).item()));
    BOOST_TEST(std::isnan(LogNormal<double>(0.5, 2.0).cdf({NAN}).item()));
}

BOOST_AUTO_TEST_CASE(moments) {
    BOOST_TEST(LogNormal<double>(0.5, 2).mean().item() == std::exp(2.5), boost::test_tools::tolerance(1e-14));
    BOOST_TEST(LogNormal<double>(0.5, 2).variance().item() == std::expm1(4.0) * std::exp(5.0),
               boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { LogNormal<double>(0, -1); }) == "LogNormal: sd is -1; it must be positive");
}

BOOST_AUTO_TEST_CASE(draws) {
    check_draws(LogNormal<double>(-1, 0.5), 1);
    check_kl(LogNormal<double>(-1, 0.5), LogNormal<double>(-0.5, 1), 2);
}

BOOST_AUTO_TEST_SUITE_END()
