#include "checks.hpp"

#include <pollen/nn/distributions/poisson.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::Poisson;
using pollen::distributions::PoissonLog;

BOOST_AUTO_TEST_SUITE(poisson_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<Poisson, 1>(poisson_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const Tensor<double> x{0, 1, 15, 3, 9};
    const auto f = [&](auto r) {
        using T = RealOf<decltype(r)>;
        return poisson_lpmf(cast<T>(x), r);
    };
    check_gradients(f, uniforms({5}, 2, 4));
    check_gradients(f, uniforms({}, 2, 4));
    check_gradients(f, uniforms({3, 1}, 2, 4));
    check_gradients([](auto r, auto s) { return kl(Poisson(r), Poisson(s)); }, uniforms({3}, 2, 4, 1),
                    uniforms({3}, 2, 4, 2));
}

BOOST_AUTO_TEST_CASE(edges) {
    check_outside([](const auto& x, const auto& r) { return Poisson(r).log_prob(x); },
                  {-1, 0.5, 11.5, INFINITY, -INFINITY}, 2.0);
    BOOST_TEST(std::isnan(Poisson<double>(2).log_prob_each({NAN}).item()));
    BOOST_TEST(Poisson<double>(2).log_prob_each({0}).item() == -2);
    BOOST_TEST((Poisson<double>(2).cdf({-1}) == Tensor<double>{0}));
    BOOST_TEST(Poisson<double>(2).cdf({1.5}).item() == 3 * std::exp(-2.0), boost::test_tools::tolerance(1e-14));
}

// By its logarithm the rate may be 0 or infinite, too.
BOOST_AUTO_TEST_CASE(log_rates) {
    const Tensor<double> x{0, 1, 8, 9, 40, 1000}, rates{0.25, 3, 7.5, 12, 38, 1010};
    Tensor<double> logs = rates;
    for (double& l : logs.mutable_values()) l = std::log(l);
    const PoissonLog<double> law(logs);
    const Tensor<double> each = law.log_prob_each(x), expected = Poisson<double>(rates).log_prob_each(x);
    for (std::int64_t i = 0; i < x.size(); ++i) BOOST_TEST(each(i) == expected(i), boost::test_tools::tolerance(1e-13));
    BOOST_TEST(allclose(law.mean(), rates, 1e-14, 0.0));
    BOOST_TEST(allclose(law.variance(), rates, 1e-14, 0.0));
    BOOST_TEST(allclose(law.cdf(x), Poisson<double>(rates).cdf(x), 1e-11, 0.0));
    BOOST_TEST((PoissonLog<double>(2).sample({100}, {.seed = 1}) ==
                Poisson<double>(std::exp(2.0)).sample({100}, {.seed = 1})));
    check_gradients(
        [&](auto l) {
            using T = RealOf<decltype(l)>;
            return poisson_log_lpmf(cast<T>(x), l);
        },
        uniforms({6}, -1, 3));
    BOOST_TEST(PoissonLog<double>(-INFINITY).log_prob_each({0}).item() == 0);
    BOOST_TEST(PoissonLog<double>(-INFINITY).log_prob_each({3}).item() == -INFINITY);
    BOOST_TEST(PoissonLog<double>(1000).log_prob_each({30}).item() == -INFINITY);
    BOOST_TEST(PoissonLog<double>(1).log_prob_each({2.5}).item() == -INFINITY);
    BOOST_TEST(error_of<ValueError>([] { PoissonLog<double>(NAN); }) ==
               "PoissonLog: log_rate is nan; it must be a number");
}

BOOST_AUTO_TEST_CASE(moments) {
    BOOST_TEST(Poisson<double>(3).mean().item() == 3);
    BOOST_TEST(Poisson<double>(3).variance().item() == 3);
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { Poisson<double>(0); }) ==
               "Poisson: rate is 0; it must be positive and finite");
}

// Chi-squared over the counts that are expected at least 20 times, the others taken together. Its mean is k and its
// variance 2 k for k degrees of freedom; k + 5 sqrt(2 k) + 10 is exceeded with a probability below 1e-5.
BOOST_AUTO_TEST_CASE(draws, *boost::unit_test::label("slow")) {
    const std::int64_t n = 1'000'000;
    for (double rate : {0.02, 3.0, 9.99, 10.0, 47.5, 1000.0}) {
        const Poisson<double> law(rate);
        const Tensor<double> x = law.sample({n}, {.seed = 1});
        const std::int64_t most = static_cast<std::int64_t>(rate + 12 * std::sqrt(rate) + 20);
        std::vector<double> seen(static_cast<std::size_t>(most) + 1);
        for (double k : x) seen[static_cast<std::size_t>(std::min(k, static_cast<double>(most)))] += 1;
        const Tensor<double> log_p = law.log_prob_each(Tensor<double>::arange(most + 1));
        double chi = 0, cells = 0, rest_seen = 0, rest = 0;
        for (std::int64_t k = 0; k <= most; ++k) {
            const double expected = std::exp(log_p.data()[k]) * static_cast<double>(n);
            const double count = seen[static_cast<std::size_t>(k)];
            if (expected < 20) {
                rest_seen += count;
                rest += expected;
            } else {
                chi += (count - expected) * (count - expected) / expected;
                ++cells;
            }
        }
        if (rest > 5) chi += (rest_seen - rest) * (rest_seen - rest) / rest;
        BOOST_TEST(chi < cells + 5 * std::sqrt(2 * cells) + 10, "rate " << rate << ": " << chi << " of " << cells);
    }
    check_kl(Poisson<double>(4), Poisson<double>(6), 2);
}

BOOST_AUTO_TEST_SUITE_END()
