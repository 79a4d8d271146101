#include "checks.hpp"

#include <pollen/nn/distributions/exponential.hpp>
#include <pollen/nn/distributions/mixture.hpp>
#include <pollen/nn/distributions/normal.hpp>

using namespace pollen;
using namespace pollen::test;
using namespace pollen::distributions;

namespace {

using Normals = Mixture<Normal<double>, double>;

}  // namespace

BOOST_AUTO_TEST_SUITE(mixture_distribution)

// A scale mixture of standard deviations 1 and e^-8. Far out the narrow part's density is zero in any floating-point
// number, and a log of a sum of densities would be wrong from 38 on; the values are mpmath's.
BOOST_AUTO_TEST_CASE(values) {
    const Normals law =
        Normals::of_probabilities(Tensor<double>{0.25, 0.75}, Normal<double>(0, Tensor<double>{1, std::exp(-8.0)}));
    const Tensor<double> got = law.log_prob_each({0, 1e-4, 0.01, 1, 40});
    const Tensor<double> want{6.7934912089680257, 6.7490657360715746, -2.3052828943245634, -2.8052328943245634,
                              -802.30523289432456};
    for (std::int64_t i = 0; i < 5; ++i)
        BOOST_TEST(got.data()[i] == want.data()[i], boost::test_tools::tolerance(1e-12));
    const Normals same =
        Normals::of_logits(Tensor<double>{5, 5 + std::log(3.0)}, Normal<double>(0, Tensor<double>{1, std::exp(-8.0)}));
    BOOST_TEST(same.log_prob_each({0.01}).item() == want.data()[2], boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(gradients) {
    const auto law = [](auto l, auto m, auto s) {
        using T = RealOf<decltype(l)>;
        return Mixture<Normal<T>, T>::of_logits(l, Normal<T>(m, s));
    };
    check_gradients([&](auto x, auto l, auto m, auto s) { return law(l, m, s).log_prob(x); }, normals({5}, 1),
                    normals({3}, 2), normals({3}, 3), uniforms({3}, 1, 2, 4));
    check_gradients([&](auto x, auto l, auto m, auto s) { return law(l, m, s).log_prob(x); }, normals({2, 5}, 1),
                    normals({5, 3}, 2), normals({}, 3), uniforms({3}, 1, 2, 4));
    check_gradients([](auto l, auto p) { return mixture_log_prob<RealOf<decltype(l)>>(l, p); }, normals({4}, 1),
                    normals({6, 4}, 2));
    check_gradients(
        [](auto w) {
            using T = RealOf<decltype(w)>;
            return Mixture<Normal<T>, T>::of_probabilities(w, Normal<T>(Tensor<T>{0, 1}, 1))
                .log_prob(Tensor<T>{0.5, -1, 2});
        },
        uniforms({2}, 0.5, 1));
}

// Where no part can be, nothing is passed back; where one cannot, the other takes all.
BOOST_AUTO_TEST_CASE(edges) {
    Tape<double> tape;
    const Var<double> x = tape.variable(Tensor<double>{-1}), rates = tape.variable(Tensor<double>{1, 2});
    const Var<double> logits = tape.variable(Tensor<double>{0, 0});
    const Var<double> l =
        Mixture<Exponential<double>, double>::of_logits(logits, Exponential<double>(rates)).log_prob(x);
    tape.backward(l);
    BOOST_TEST(l.item() == -INFINITY);
    BOOST_TEST(x.grad().item() == 0);
    BOOST_TEST((rates.grad() == Tensor<double>{0, 0}));
    BOOST_TEST((logits.grad() == Tensor<double>{0, 0}));
    const Normals one = Normals::of_probabilities(Tensor<double>{0, 1}, Normal<double>(Tensor<double>{5, 0}, 1));
    BOOST_TEST(one.log_prob_each({0.5}).item() == Normal<double>(0, 1).log_prob_each({0.5}).item());
    BOOST_TEST(std::isnan(one.log_prob_each({NAN}).item()));
}

BOOST_AUTO_TEST_CASE(moments_and_draws) {
    const Normals law = Normals::of_probabilities(Tensor<double>{0.25, 0.75},
                                                  Normal<double>(Tensor<double>{-2, 2}, Tensor<double>{1, 0.5}));
    BOOST_TEST(law.mean().item() == 1, boost::test_tools::tolerance(1e-14));
    BOOST_TEST(law.variance().item() == 0.25 * (1 + 9) + 0.75 * (0.25 + 1), boost::test_tools::tolerance(1e-14));
    check_draws(law, 1);
    const auto tails = Mixture<Exponential<double>, double>::of_logits(Tensor<double>{0, 1},
                                                                       Exponential<double>(Tensor<double>{10, 0.1}));
    check_draws(tails, 2);
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] {
                   Normals::of_probabilities(Tensor<double>{0.5, -0.5}, Normal<double>(0, Tensor<double>{1, 2}));
               }) == "Mixture: probability is -0.5 at element 1; it must not be negative, and be finite");
    BOOST_TEST(
        error_of<ShapeError>([] {
            Normals::of_logits(Tensor<double>{0, 0, 0}, Normal<double>(0, Tensor<double>{1, 2})).log_prob_each({1});
        }) == "mixture_lpdf: shapes (3) and (1, 2) do not broadcast: axis 1 is 3 and 2; sizes must be equal or 1");
}

// Weights that differ by row, parts that do not
BOOST_AUTO_TEST_CASE(moments_broadcast) {
    Tensor<double> logits = normals({5, 2}, 1);
    const auto law = Mixture<Normal<double>, double>::of_logits(
        logits, Normal<double>(Tensor<double>{-1, 2}, Tensor<double>{0.5, 3}));
    const Tensor<double> mean = law.mean(), variance = law.variance();
    BOOST_REQUIRE_EQUAL(to_string(variance.shape()), "(5)");
    for (std::int64_t i = 0; i < 5; ++i) {
        const double w = 1 / (1 + std::exp(logits(i, 1) - logits(i, 0))), m = -w + 2 * (1 - w);
        BOOST_TEST(mean(i) == m, boost::test_tools::tolerance(1e-14));
        BOOST_TEST(variance(i) == w * (0.25 + 1) + (1 - w) * (9 + 4) - m * m, boost::test_tools::tolerance(1e-13));
    }
    const auto same = Mixture<Normal<double>, double>::of_logits(Tensor<double>{0, 1, 2}, Normal<double>(1., 2.));
    BOOST_TEST(same.variance().item() == 4., boost::test_tools::tolerance(1e-14));
    BOOST_TEST(
        error_of<ValueError>([] {
            Mixture<Normal<double>, double>::of_probabilities(Tensor<double>{{1, 0}, {0, 0}}, Normal<double>(0., 1.));
        }) == "Mixture: probabilities (2, 2): all of row 1 are 0; one at least must be greater");
}

BOOST_AUTO_TEST_SUITE_END()
