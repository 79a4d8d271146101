#include "checks.hpp"

#include <pollen/nn/distributions/beta.hpp>

using namespace pollen;
using namespace pollen::test;
using pollen::distributions::Beta;

BOOST_AUTO_TEST_SUITE(beta_distribution)

BOOST_AUTO_TEST_CASE(reference) { check_reference<Beta, 2>(beta_rows); }

BOOST_AUTO_TEST_CASE(gradients) {
    const auto f = [](auto x, auto a, auto b) { return beta_lpdf(x, a, b); };
    check_gradients(f, uniforms({9}, 0.4, 0.6, 1), uniforms({9}, 2, 3, 2), uniforms({9}, 1, 2, 3));
    check_gradients(f, uniforms({9}, 0.4, 0.6, 1), uniforms({}, 2, 3, 2), uniforms({}, 1, 2, 3));
    check_gradients(f, uniforms({4, 1}, 0.4, 0.6, 1), uniforms({3}, 2, 3, 2), uniforms({2, 1, 1}, 1, 2, 3));
    check_gradients([](auto a, auto b, auto c, auto d) { return kl(Beta(a, b), Beta(c, d)); }, uniforms({3}, 2, 3, 1),
                    uniforms({3}, 1, 2, 2), uniforms({3}, 2, 3, 3), uniforms({3}, 1, 2, 4));
}

BOOST_AUTO_TEST_CASE(edges) {
    for (double b : {3.0, 300.0})
        check_outside([](const auto& x, const auto& p, const auto& q) { return Beta(p, q).log_prob(x); },
                      {-1e-9, -2, 0, 1, 1.1, INFINITY}, 2.0, b);
    BOOST_TEST(Beta<double>(1, 1).log_prob_each({0}).item() == 0, boost::test_tools::tolerance(1e-14));
    BOOST_TEST(std::abs(Beta<double>(1, 1).log_prob_each({1}).item()) < 1e-14);
    BOOST_TEST(Beta<double>(0.5, 4).log_prob_each({0}).item() == INFINITY);
    BOOST_TEST(std::isnan(Beta<double>(0.5, 4).log_prob_each({NAN}).item()));
    BOOST_TEST((Beta<double>(0.5, 4).cdf({-1, 0, 1, 2}) == Tensor<double>{0, 0, 1, 1}));
}

BOOST_AUTO_TEST_CASE(moments) {
    BOOST_TEST(Beta<double>(3, 1).mean().item() == 0.75);
    BOOST_TEST(Beta<double>(3, 1).variance().item() == 0.0375, boost::test_tools::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { Beta<double>(0, 1); }) == "Beta: a is 0; it must be positive and finite");
    BOOST_TEST(error_of<ValueError>([] { Beta<double>(1, -1); }) == "Beta: b is -1; it must be positive and finite");
    BOOST_TEST(error_of<TapeError>([] { Beta<double>(1, 1).rsample({2}, {}); }) ==
               "Beta: rsample: neither a nor b is a Var, so there is no tape; sample draws numbers");
}

// E x = a / (a + b)
BOOST_AUTO_TEST_CASE(pathwise, *boost::unit_test::label("slow")) {
    for (double a : {0.1, 1.0, 7.0})
        for (double b : {0.2, 30.0}) {
            check_pathwise_mean([&](auto p) { return Beta(p, b); }, a, b / (a + b) / (a + b), 3);
            check_pathwise_mean([&](auto p) { return Beta(a, p); }, b, -a / (a + b) / (a + b), 4);
        }
}

BOOST_AUTO_TEST_CASE(draws, *boost::unit_test::label("slow")) {
    check_draws(Beta<double>(0.3, 0.6), 1);
    check_draws(Beta<double>(5, 2), 2);
    check_kl(Beta<double>(3, 2), Beta<double>(2, 0.7), 3);
}

// The slopes of the two gamma variables behind each draw, by mpmath with 50 digits
BOOST_AUTO_TEST_CASE(implicit_slope_reference) {
    Tape<double> tape;
    const Var<double> a = tape.variable(Tensor<double>::full({3}, 0.7)),
                      b = tape.variable(Tensor<double>::full({3}, 2.5));
    const Var<double> x = Beta(a, b).rsample({3}, {.seed = 5});
    tape.backward(sum(x));
    const Tensor<double> draws{0.12387128157536292, 0.31545819202592607, 0.19158372981926563};
    const Tensor<double> to_a{0.26736205560859355, 0.2669035069343919, 0.32276309173411868};
    const Tensor<double> to_b{-0.047267605151790234, -0.083226928539745131, -0.071951601724612863};
    for (std::int64_t i = 0; i < 3; ++i) {
        BOOST_TEST(x.value().data()[i] == draws.data()[i], boost::test_tools::tolerance(1e-10));
        BOOST_TEST(a.grad().data()[i] == to_a.data()[i], boost::test_tools::tolerance(1e-10));
        BOOST_TEST(b.grad().data()[i] == to_b.data()[i], boost::test_tools::tolerance(1e-10));
    }
}

BOOST_AUTO_TEST_SUITE_END()
