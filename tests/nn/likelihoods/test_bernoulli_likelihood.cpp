#include "../../autograd/ops/same_bits.hpp"
#include "likelihood_checks.hpp"

#include <pollen/nn/likelihoods/bernoulli.hpp>

using namespace pollen;
using namespace pollen::test;
namespace tt = boost::test_tools;

BOOST_AUTO_TEST_SUITE(bernoulli)

namespace {

const Tensor<double> logits{0.5, -1.25, 2.0, -0.75, 3.0};
const Tensor<double> targets{1, 0, 0, 1, 1};

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    // SciPy: bernoulli.logpmf(y, expit(x))
    const double expected = -4.0383924342570925;
    const auto value = [&](const Tensor<double>& x, const Dataset<double>& batch) {
        return log_prob(Bernoulli<double>(), x, batch).value;
    };
    BOOST_TEST(value(logits, with_targets<double>(targets)) == expected, tt::tolerance(1e-14));
    BOOST_TEST(value(logits.reshaped({5, 1}), with_targets<double>(targets)) == expected, tt::tolerance(1e-14));
    BOOST_TEST(value(logits, with_targets<double>(targets.reshaped({5, 1}))) == expected, tt::tolerance(1e-14));
    BOOST_TEST(value(logits.reshaped({1, 5}), with_targets<double>(targets.reshaped({1, 5}))) == expected,
               tt::tolerance(1e-14));
    BOOST_TEST(value(logits, with_labels<double>({1, 0, 0, 1, 1})) == expected, tt::tolerance(1e-14));
    BOOST_TEST(value(logits.reshaped({5, 1}), with_labels<double>({1, 0, 0, 1, 1})) == expected, tt::tolerance(1e-14));
    BOOST_TEST(log_prob(Bernoulli<float>(), logits, with_targets<float>(targets)).value == static_cast<float>(expected),
               tt::tolerance(1e-6f));
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_log_prob_gradients([]<class T>() { return Bernoulli<T>(); },
                             []<class T>() { return with_targets<T>(targets); }, logits);
}

// log p and its slope near their ends: -log1p(exp(-v)) and 1 / (1 + exp(v)).
BOOST_AUTO_TEST_CASE(large_logits) {
    for (const double x : {-100.0, -37.0, 37.0, 100.0}) {
        for (const double y : {0.0, 1.0}) {
            const double v = y == 1 ? x : -x, sign = y == 1 ? 1 : -1;
            const double expected = v > 0 ? -std::log1p(std::exp(-v)) : v - std::log1p(std::exp(v));
            const double slope = v > 0 ? std::exp(-v) / (1 + std::exp(-v)) : 1 / (1 + std::exp(v));
            const auto exact = log_prob(Bernoulli<double>(), {x}, with_targets<double>({y}));
            BOOST_TEST(exact.value == expected, tt::tolerance(1e-15));
            BOOST_TEST(exact.slope.item() == sign * slope, tt::tolerance(1e-15));
            if (v < -80) continue;  // the slope is a denormal float
            const auto rough = log_prob(Bernoulli<float>(), {x}, with_targets<float>({y}));
            BOOST_TEST(rough.value == static_cast<float>(expected), tt::tolerance(1e-6f));
            if (v < 80) BOOST_TEST(rough.slope.item() == static_cast<float>(sign * slope), tt::tolerance(1e-6f));
        }
    }
}

BOOST_AUTO_TEST_CASE(same_bits_on_any_number_of_threads) {
    const Tensor<double> many = normals({50000});
    Tensor<double> signs = normals({50000}, 2);
    for (double& y : signs.mutable_values()) y = y > 0 ? 1 : 0;
    check_same_bits<float>(
        [&]<class T>(Var<T> x) {
            const Bernoulli<T> likelihood;
            const Parameters<T> none(likelihood);
            Tape<T> unused;
            Pass<T> pass(unused, none, {});
            return likelihood.log_prob(pass, x, with_targets<T>(signs));
        },
        many);
}

BOOST_AUTO_TEST_CASE(nothing) {
    for (const Shape& shape : {Shape{0}, Shape{0, 1}, Shape{0, 3}}) {
        const auto empty = log_prob(Bernoulli<double>(), Tensor<double>::zeros(shape),
                                    with_targets<double>(Tensor<double>::zeros(shape)));
        BOOST_TEST(empty.value == 0.0);
        BOOST_TEST(to_string(empty.slope.shape()) == to_string(shape));
        BOOST_TEST(Bernoulli<double>().score(Tensor<double>::zeros(shape), {}) == 0.0);
    }
}

BOOST_AUTO_TEST_CASE(accuracy) {
    const Bernoulli<double> likelihood;
    BOOST_TEST(likelihood.score(logits, with_targets<double>(targets)) == 3.0);
    BOOST_TEST(likelihood.score(logits, with_labels<double>({1, 0, 0, 1, 1})) == 3.0);
    // Several an item count as their mean.
    BOOST_TEST(likelihood.score(Tensor<double>{{1, -1}, {1, 1}}, with_targets<double>({{1, 0}, {0, 1}})) == 1.5);
    BOOST_TEST(likelihood.finish(1.5, 2) == 0.75);
    BOOST_TEST(likelihood.score_name() == "accuracy");
    BOOST_TEST(likelihood.higher_is_better());
    BOOST_TEST(likelihood.clone()->describe() == "Bernoulli");
}

BOOST_AUTO_TEST_CASE(errors) {
    const Bernoulli<double> likelihood;
    const Tensor<double> pairs{{1, 2}, {3, 4}};
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, Tensor<double>::scalar(1), with_targets<double>({1})) ==
               "Bernoulli: outputs have shape (); their first axis must count the items");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, pairs, with_targets<double>({0, 1})) ==
               "Bernoulli: outputs have shape (2, 2), targets (2); targets of shape (2, 2) are needed");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, pairs, Dataset<double>()) ==
               "Bernoulli: outputs have shape (2, 2) and there are no targets; targets of shape (2, 2) are needed");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, pairs, with_labels<double>({0, 1})) ==
               "Bernoulli: outputs have shape (2, 2), labels (2); one output and one label for each item are needed");
    BOOST_TEST(log_prob_error<ValueError>(likelihood, {1, 2}, with_labels<double>({0, 2})) ==
               "Bernoulli: the label of item 1 is 2; 0 or 1 is needed");
    BOOST_TEST(log_prob_error<ValueError>(likelihood, {1, 2}, with_targets<double>({0.5, 1})) ==
               "Bernoulli: the target of item 0 is 0.5; 0 or 1 is needed");
    BOOST_TEST(log_prob_error<ValueError>(likelihood, pairs, with_targets<double>({{0, 1}, {1, NAN}})) ==
               "Bernoulli: target 1 of item 1 is nan; 0 or 1 is needed");
}

BOOST_AUTO_TEST_SUITE_END()
