#include "checks.hpp"

#include <pollen/nn/distributions/bernoulli.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::Bernoulli;

BOOST_AUTO_TEST_SUITE(bernoulli_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<Bernoulli, 1>(bernoulli_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const Tensor<double> x{0, 1, 1, 0, 1};
    const auto f = [&](auto l) {
        using T = RealOf<decltype(l)>;
        return bernoulli_logit_lpmf(cast<T>(x), l);
    };
    check_gradients(f, normals({5}));
    check_gradients(f, normals({}));
    check_gradients(f, normals({3, 1}));
    check_gradients([](auto l, auto m) { return kl(Bernoulli(l), Bernoulli(m)); }, normals({3}, 1), normals({3}, 2));
}

BOOST_AUTO_TEST_CASE(edges) {
    check_outside([](const auto& x, const auto& l) { return Bernoulli(l).log_prob(x); },
                  {-1, 0.5, 2, INFINITY, -INFINITY}, 2.0);
    BOOST_TEST(std::isnan(Bernoulli<double>(2).log_prob_each({NAN}).item()));
    BOOST_TEST((Bernoulli<double>(INFINITY).log_prob_each({1, 0}) == Tensor<double>{0, -INFINITY}));
}

BOOST_AUTO_TEST_CASE(moments) {
    BOOST_TEST(Bernoulli<double>(0).mean().item() == 0.5);
    BOOST_TEST(Bernoulli<double>(0).variance().item() == 0.25);
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] {
                   Bernoulli<double>(Tensor<double>{0, NAN});
               }) == "Bernoulli: logits is nan at element 1; it must be a number");
}

// The number of ones among a million, within 4.5 standard deviations.
BOOST_AUTO_TEST_CASE(draws) {
    for (double logit : {-3.0, 0.0, 1.5}) {
        const Bernoulli<double> law(logit);
        const Estimate ones = estimate(law.sample({1'000'000}, {.seed = 1}));
        BOOST_TEST(std::abs(ones.mean - law.mean().item()) < 4.5 * ones.error);
    }
    check_kl(Bernoulli<double>(0.5), Bernoulli<double>(-1), 2);
}

BOOST_AUTO_TEST_SUITE_END()
