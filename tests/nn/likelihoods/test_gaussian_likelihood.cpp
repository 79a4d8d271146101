#include "likelihood_checks.hpp"

#include <pollen/nn/likelihoods/gaussian.hpp>

using namespace pollen;
using namespace pollen::test;
namespace tt = boost::test_tools;

BOOST_AUTO_TEST_SUITE(gaussian)

namespace {

const Tensor<double> means{0.5, -1.25, 2.0, -0.75, 3.0};
const Tensor<double> targets{0.25, -2.0, 2.5, 1.0, 3.0};
// Two means and two spreads an item.
const Tensor<double> halves(Shape{3, 4},
                            std::vector<double>{0.5, -1.25, 2.0, -0.75, 3.0, 0.25, -3.0, 1.0, -1.0, 0.75, 0.5, 4.0});
const Tensor<double> pairs(Shape{3, 2}, std::vector<double>{0.25, -2.0, 3.5, 1.0, -1.5, 6.0});

template <class T>
Gaussian<T> learned_at(double sd) {
    Gaussian<T> likelihood = Gaussian<T>::learned(sd);
    initialise<T>(likelihood, 1);
    return likelihood;
}

}  // namespace

// SciPy: norm.logpdf(y, mean, sd)
BOOST_AUTO_TEST_CASE(values) {
    const Dataset<double> batch = with_targets<double>(targets);
    const Dataset<float> batch_float = with_targets<float>(targets);
    BOOST_TEST(log_prob(Gaussian<double>::known(0.5), means, batch).value == -9.0039567632236359, tt::tolerance(1e-14));
    BOOST_TEST(log_prob(Gaussian<float>::known(0.5), means, batch_float).value == -9.00395676f, tt::tolerance(1e-6f));
    BOOST_TEST(log_prob(Gaussian<double>::known(0.5), means.reshaped({5, 1}), batch).value == -9.0039567632236359,
               tt::tolerance(1e-14));
    BOOST_TEST(log_prob(learned_at<double>(1.75), means, batch).value == -8.0356287485576186, tt::tolerance(1e-14));
    BOOST_TEST(log_prob(learned_at<float>(1.75), means, batch_float).value == -8.03562875f, tt::tolerance(1e-6f));
    BOOST_TEST(
        log_prob(Gaussian<double>::predicted(), halves, with_targets<double>(pairs)).value == -59.913301199348233,
        tt::tolerance(1e-14));
    BOOST_TEST(log_prob(Gaussian<float>::predicted(), halves, with_targets<float>(pairs)).value == -59.9133012f,
               tt::tolerance(1e-5f));
}

BOOST_AUTO_TEST_CASE(gradients) {
    const auto batch = []<class T>() { return with_targets<T>(targets); };
    check_log_prob_gradients([]<class T>() { return Gaussian<T>::known(0.5); }, batch, means);
    check_log_prob_gradients([]<class T>() { return Gaussian<T>::predicted(); },
                             []<class T>() { return with_targets<T>(pairs); }, halves);
    check_parameter_slope([]<class T>() { return Gaussian<T>::learned(1); }, batch, means, -0.25);
    // The outputs' slope is that of the known noise.
    const auto learned = log_prob(learned_at<double>(0.5), means, with_targets<double>(targets));
    const auto known = log_prob(Gaussian<double>::known(0.5), means, with_targets<double>(targets));
    BOOST_TEST(allclose(learned.slope, known.slope, 1e-15, 0.0));
}

// More items than one block of a loop has, against plain loops.
BOOST_AUTO_TEST_CASE(many_items) {
    const std::int64_t n = 40003;
    const Tensor<double> x = cast<double>(cast<float>(normals({n}))), y = cast<double>(cast<float>(normals({n}, 2)));
    long double squares = 0;
    for (std::int64_t i = 0; i < n; ++i) squares += std::pow(static_cast<long double>(x(i)) - y(i), 2);
    const long double expected = -squares / 8 - n * (std::log(2.0L) + 0.918938533204672741780L);
    const auto exact = log_prob(learned_at<double>(2), x, with_targets<double>(y));
    const auto rough = log_prob(learned_at<float>(2), x, with_targets<float>(y));
    BOOST_TEST(exact.value == static_cast<double>(expected), tt::tolerance(1e-14));
    BOOST_TEST(rough.value == static_cast<float>(expected), tt::tolerance(1e-6f));
    BOOST_TEST(exact.parameters[0].item() == static_cast<double>(squares / 4 - n), tt::tolerance(1e-13));
    BOOST_TEST(rough.parameters[0].item() == static_cast<float>(squares / 4 - n), tt::tolerance(1e-5f));
    for (const std::int64_t i : {std::int64_t{0}, n / 2, n - 1})
        BOOST_TEST(exact.slope(i) == (y(i) - x(i)) / 4, tt::tolerance(1e-14));
}

BOOST_AUTO_TEST_CASE(parameter) {
    const Gaussian<float> learned = learned_at<float>(0.1);
    const Parameters<float> parameters(learned);
    BOOST_REQUIRE(parameters.count() == 1u);
    BOOST_TEST(parameters.entries()[0].name == "log_sd");
    BOOST_TEST(to_string(parameters.entries()[0].parameter->shape) == "()");
    BOOST_TEST(std::exp(learned.log_sd.value.item()) == 0.1f, tt::tolerance(1e-6f));
    BOOST_TEST(Parameters<float>(*learned.clone()).count() == 1u);
    BOOST_TEST(Parameters<float>(Gaussian<float>::known(1)).count() == 0u);
    BOOST_TEST(Parameters<float>(Gaussian<float>::predicted()).count() == 0u);
}

BOOST_AUTO_TEST_CASE(extremes) {
    // The smallest and the largest predicted sd: 1e-6 and the raw number itself.
    const auto narrow = log_prob(Gaussian<float>::predicted(), {{2, -100}}, with_targets<float>({2}));
    BOOST_TEST(narrow.value == static_cast<float>(6 * std::log(10) - 0.91893853320467274), tt::tolerance(1e-6f));
    BOOST_TEST(narrow.slope.data()[0] == 0.0f);
    BOOST_TEST(std::abs(narrow.slope.data()[1]) < 1e-30f);
    const auto wide = log_prob(Gaussian<float>::predicted(), {{2, 1e10}}, with_targets<float>({2}));
    BOOST_TEST(wide.value == static_cast<float>(-10 * std::log(10) - 0.91893853320467274), tt::tolerance(1e-6f));
    BOOST_TEST(wide.slope.data()[1] == -1e-10f, tt::tolerance(1e-6f));
    // Far from the mean: -z^2 / 2 and z / sd.
    const auto far = log_prob(Gaussian<float>::known(1e-3), {1e6}, with_targets<float>({0}));
    BOOST_TEST(far.value == -0.5e18f, tt::tolerance(1e-6f));
    BOOST_TEST(far.slope.item() == -1e12f, tt::tolerance(1e-6f));
}

BOOST_AUTO_TEST_CASE(nothing) {
    const Dataset<double> none;
    BOOST_TEST(log_prob(Gaussian<double>::known(1), Tensor<double>(), none).value == 0.0);
    BOOST_TEST(log_prob(Gaussian<double>::known(1), Tensor<double>::zeros({0, 3}), none).value == 0.0);
    BOOST_TEST(log_prob(Gaussian<double>::predicted(), Tensor<double>::zeros({0, 4}), none).value == 0.0);
    const auto learned = log_prob(learned_at<double>(2), Tensor<double>(), none);
    BOOST_TEST(learned.value == 0.0);
    BOOST_TEST(learned.parameters[0].item() == 0.0);
    BOOST_TEST(Gaussian<double>::predicted().score(Tensor<double>::zeros({0, 4}), none) == 0.0);
}

BOOST_AUTO_TEST_CASE(score) {
    const auto likelihood = Gaussian<double>::known(1);
    BOOST_TEST(likelihood.score(Tensor<double>{{1, 2}, {3, 4}}, with_targets<double>({{1, 0}, {0, 4}})) == 6.5);
    BOOST_TEST(likelihood.finish(18, 2) == 3.0);
    BOOST_TEST(Gaussian<double>::predicted().score(Tensor<double>{{1, 9}, {3, 9}}, with_targets<double>({3, 0})) ==
               13.0);
    BOOST_TEST(likelihood.score_name() == "rmse");
    BOOST_TEST(!likelihood.higher_is_better());
    BOOST_TEST(Gaussian<double>::known(0.1).describe() == "Gaussian(sd 0.1)");
    BOOST_TEST(Gaussian<double>::learned().describe() == "Gaussian(learned sd)");
    BOOST_TEST(Gaussian<double>::predicted().clone()->describe() == "Gaussian(predicted sd)");
}

BOOST_AUTO_TEST_CASE(sd_of_the_noise) {
    BOOST_TEST(Gaussian<double>::known(0.3).sd() == 0.3);
    auto learned = Gaussian<double>::learned(0.5);
    BOOST_TEST(learned.sd() == 0.5);
    learned.log_sd.value = Tensor<double>::scalar(-2);
    BOOST_TEST(learned.sd() == std::exp(-2.0), boost::test_tools::tolerance(1e-15));
    BOOST_TEST(error_of<ValueError>([] { Gaussian<double>::predicted().sd(); }) ==
               "Gaussian: the noise is predicted for each item; there is not one sd for all");
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto known = Gaussian<double>::known(1), predicted = Gaussian<double>::predicted();
    BOOST_TEST(error_of<ValueError>([] { Gaussian<double>::known(0); }) ==
               "Gaussian: sd is 0; a finite number above 0 is needed");
    BOOST_TEST(error_of<ValueError>([] { Gaussian<double>::learned(NAN); }) ==
               "Gaussian: initial_sd is nan; a finite number above 0 is needed");
    BOOST_TEST(log_prob_error<ShapeError>(known, Tensor<double>::scalar(1), with_targets<double>({1})) ==
               "Gaussian: outputs have shape (); their first axis must count the items");
    BOOST_TEST(log_prob_error<ShapeError>(known, means, with_targets<double>({1, 2})) ==
               "Gaussian: outputs have shape (5), targets (2); targets of shape (5) are needed");
    BOOST_TEST(log_prob_error<ShapeError>(known, means, with_labels<double>({1, 2})) ==
               "Gaussian: outputs have shape (5) and there are no targets; targets of shape (5) are needed");
    BOOST_TEST(log_prob_error<ShapeError>(predicted, {{1, 2, 3}}, with_targets<double>({1})) ==
               "Gaussian: outputs have shape (1, 3); (n, 2k), k means and k spreads for each item, are needed to "
               "predict the noise");
    BOOST_TEST(log_prob_error<ShapeError>(predicted, {{1, 2, 3, 4}}, with_targets<double>({1})) ==
               "Gaussian: outputs have shape (1, 4), targets (1); targets of shape (1, 2) are needed");
    BOOST_TEST(log_prob_error<ValueError>(known, {1, 2}, with_targets<double>({1, NAN})) ==
               "Gaussian: the target of item 1 is nan; finite numbers are needed");
    BOOST_TEST(log_prob_error<ValueError>(predicted, {{1, 2, 3, 4}}, with_targets<double>({{INFINITY, 1}})) ==
               "Gaussian: target 0 of item 0 is inf; finite numbers are needed");
    BOOST_TEST(error_of<ValueError>([] {
                   log_prob<double>(Gaussian<double>::learned(), means, with_targets<double>(targets));
               }) == "parameter log_sd () has no value yet: call initialise(), load() or train() first");
}

BOOST_AUTO_TEST_SUITE_END()
