#include "likelihood_checks.hpp"

#include <pollen/nn/likelihoods/categorical.hpp>

using namespace pollen;
using namespace pollen::test;
namespace tt = boost::test_tools;

BOOST_AUTO_TEST_SUITE(categorical)

namespace {

const Tensor<double> logits(Shape{4, 3},
                            std::vector<double>{0.5, -1.25, 2.0, 3.0, 0.0, -0.75, -2.0, 1.5, 1.0, 0.25, 0.5, -4.0});
const Indices labels{2, 0, 1, 2};

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    // SciPy: x - logsumexp(x)
    const double expected = -5.8782288525003628;
    BOOST_TEST(log_prob(Categorical<double>(), logits, with_labels<double>(labels)).value == expected,
               tt::tolerance(1e-14));
    BOOST_TEST(log_prob(Categorical<float>(), logits, with_labels<float>(labels)).value == static_cast<float>(expected),
               tt::tolerance(1e-6f));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_log_prob_gradients([]<class T>() { return Categorical<T>(); },
                             []<class T>() { return with_labels<T>(labels); }, logits);
}

BOOST_AUTO_TEST_CASE(large_logits) {
    const auto sure = log_prob(Categorical<float>(), {{100, -100}}, with_labels<float>({0}));
    BOOST_TEST(sure.value == 0.0f);  // -exp(-200)
    const auto wrong = log_prob(Categorical<float>(), {{100, -100}}, with_labels<float>({1}));
    BOOST_TEST(wrong.value == -200.0f);
    BOOST_TEST(wrong.slope == (Tensor<float>{{-1, 1}}));
}

BOOST_AUTO_TEST_CASE(nothing) {
    const auto empty = log_prob(Categorical<double>(), Tensor<double>::zeros({0, 3}), with_labels<double>(Indices()));
    BOOST_TEST(empty.value == 0.0);
    BOOST_TEST(to_string(empty.slope.shape()) == "(0, 3)");
    BOOST_TEST(Categorical<double>().score(Tensor<double>::zeros({0, 3}), {}) == 0.0);
}

BOOST_AUTO_TEST_CASE(accuracy) {
    const Categorical<double> likelihood;
    BOOST_TEST(likelihood.score(logits, with_labels<double>(labels)) == 3.0);
    BOOST_TEST(likelihood.finish(3, 4) == 0.75);
    BOOST_TEST(likelihood.score_name() == "accuracy");
    BOOST_TEST(likelihood.higher_is_better());
    BOOST_TEST(likelihood.describe() == "Categorical");
    BOOST_TEST(likelihood.clone()->describe() == "Categorical");
    BOOST_TEST(parameter_count<double>(likelihood) == 0);
}

BOOST_AUTO_TEST_CASE(errors) {
    const Categorical<double> likelihood;
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, {1, 2, 3}, with_labels<double>(labels)) ==
               "Categorical: outputs have shape (3); logits (n, classes) are needed");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, Tensor<double>::zeros({2, 0}), with_labels<double>({0, 1})) ==
               "Categorical: outputs have shape (2, 0); logits (n, classes) are needed");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, logits, with_labels<double>({0, 1})) ==
               "Categorical: outputs have shape (4, 3), labels (2); one label for each row, (4), is needed");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, logits, with_targets<double>({0, 1, 2, 0})) ==
               "Categorical: outputs have shape (4, 3) and there are no labels; one label for each row, (4), is "
               "needed");
    BOOST_TEST(log_prob_error<ValueError>(likelihood, logits, with_labels<double>({0, 1, 3, 0})) ==
               "Categorical: the label of item 2 is 3; outputs (4, 3) have classes 0 to 2");
    BOOST_TEST(log_prob_error<ValueError>(likelihood, logits, with_labels<double>({0, -1, 2, 0})) ==
               "Categorical: the label of item 1 is -1; outputs (4, 3) have classes 0 to 2");
}

BOOST_AUTO_TEST_SUITE_END()
