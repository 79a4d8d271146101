#include "checks.hpp"

#include <pollen/nn/distributions/categorical.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::Categorical;

BOOST_AUTO_TEST_SUITE(categorical_distribution)

BOOST_AUTO_TEST_CASE(values) {
    const Categorical<double> law(Tensor<double>{0.5, -1, 2});
    const Tensor<double> log_p{-1.7413112966571571, -3.2413112966571571, -0.24131129665715706};
    check_close(law.log_prob_each(Indices{0, 1, 2}), log_p, 4);
    for (std::int64_t k = 0; k < 3; ++k)
        BOOST_TEST(law.probabilities().data()[k] == std::exp(log_p.data()[k]), boost::test_tools::tolerance(1e-15));
    // Shifted by a thousand the law is the same, and a logit of -infinity is a class that never comes.
    check_close(Categorical<double>(Tensor<double>{1000.5, 999, 1002}).log_prob_each(Indices{0, 1, 2}), log_p, 400);
    const Categorical<double> sure(Tensor<double>{0, -INFINITY});
    BOOST_TEST((sure.log_prob_each(Indices{0, 1}) == Tensor<double>{0, -INFINITY}));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_gradients([](auto l) { return categorical_logit_lpmf(Indices{0, 2, 1, 2}, l); }, normals({3}));
    check_gradients([](auto l) { return categorical_logit_lpmf(Indices{0, 2, 1, 2}, l); }, normals({4, 3}));
    check_gradients(
        [](auto l) {
            return categorical_logit_lpmf(Indices{{0, 2, 1, 2}, {1, 1, 0, 0}}, l);
        },
        normals({2, 1, 3}));
    check_gradients([](auto l, auto m) { return kl(Categorical(l), Categorical(m)); }, normals({2, 3}, 1),
                    normals({2, 3}, 2));
}

BOOST_AUTO_TEST_CASE(edges) {
    Tape<double> tape;
    const Var<double> logits = tape.variable(Tensor<double>{{1, 2}, {3, 4}});
    const Var<double> l = categorical_logit_lpmf(Indices{2, -1}, logits);
    tape.backward(l);
    BOOST_TEST(l.item() == -INFINITY);
    BOOST_TEST((logits.grad() == Tensor<double>{{0, 0}, {0, 0}}));
    BOOST_TEST(categorical_logit_lpmf(Indices::zeros({0, 2}), logits).item() == 0);
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ShapeError>([] { Categorical<double>(1.0); }) ==
               "Categorical: logits have shape (); their last axis must hold the classes");
    BOOST_TEST(error_of<ValueError>([] {
                   Categorical<double>(Tensor<double>{1, NAN});
               }) == "Categorical: logits is nan at element 1; it must be a number");
    BOOST_TEST(
        error_of<ShapeError>([] {
            Categorical<double>(normals({4, 3})).log_prob_each(Indices{0, 1});
        }) ==
        "Categorical: logits have shape (4, 3) and x (2); the logits' shape without its last axis must broadcast "
        "to that of x");
}

// Chi-squared of a million draws with 3 degrees of freedom exceeds 30 with probability 1.4e-6.
BOOST_AUTO_TEST_CASE(draws) {
    const Categorical<double> law(Tensor<double>{0.5, -1, 2, -4});
    const std::int64_t n = 1'000'000;
    const Indices x = law.sample({n}, {.seed = 1});
    std::array<double, 4> seen{};
    for (std::int32_t c : x) seen.at(static_cast<std::size_t>(c)) += 1;
    double chi = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        const double expected = law.probabilities().data()[k] * static_cast<double>(n);
        chi += (seen[k] - expected) * (seen[k] - expected) / expected;
    }
    BOOST_TEST(chi < 30);
    const Categorical<double> rows(Tensor<double>{{0, -INFINITY}, {-INFINITY, 0}});
    BOOST_TEST((rows.sample({3, 2}, {.seed = 2}) == Indices{{0, 1}, {0, 1}, {0, 1}}));
}

BOOST_AUTO_TEST_CASE(divergence) {
    const Categorical<double> p(Tensor<double>{0.5, -1, 2}), q(Tensor<double>{0, 0, 0});
    double want = 0;
    for (double w : p.probabilities()) want += w * (std::log(w) + std::log(3.0));
    BOOST_TEST(kl_each(p, q).item() == want, boost::test_tools::tolerance(1e-14));
    BOOST_TEST(std::abs(kl_each(p, p).item()) < 1e-15);
}

BOOST_AUTO_TEST_SUITE_END()
