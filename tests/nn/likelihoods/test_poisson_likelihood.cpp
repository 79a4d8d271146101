#include "likelihood_checks.hpp"

#include <pollen/nn/likelihoods/poisson.hpp>

using namespace pollen;
using namespace pollen::test;
namespace tt = boost::test_tools;

BOOST_AUTO_TEST_SUITE(poisson)

namespace {

const Tensor<double> log_rates{0.5, -1.25, 2.0, -0.75, 3.0, 1.0};
const Tensor<double> counts{2, 0, 9, 1, 31, 0};

}  // namespace

BOOST_AUTO_TEST_CASE(values) {
    // SciPy: poisson.logpmf(y, exp(x))
    BOOST_TEST(log_prob(Poisson<double>(), log_rates, with_targets<double>(counts)).value == -12.937665684835418,
               tt::tolerance(1e-14));
    BOOST_TEST(
        log_prob(Poisson<double>(), log_rates.reshaped({3, 2}), with_targets<double>(counts.reshaped({3, 2}))).value ==
            -12.937665684835418,
        tt::tolerance(1e-14));
    BOOST_TEST(log_prob(Poisson<float>(), log_rates, with_targets<float>(counts)).value == -12.9376657f,
               tt::tolerance(1e-6f));
}

// mpmath, 40 digits: y x - exp(x) - loggamma(y + 1). y log y is 1.4e7 and 2.8e8 in the first two.
BOOST_AUTO_TEST_CASE(extremes) {
    struct Case {
        double y, x, expected;
    };
    for (const auto& [y, x, expected] :
         {Case{1e6, 13.8125, -12.353879266108349}, Case{16777216, 16.6328125, -71.235160272924176},
          Case{15, 2.75, -2.291903268029063}, Case{16, 2.75, -2.3144919902688446}, Case{17, 2.75, -2.3977053343250603},
          Case{1, 0, -1}, Case{0, -50, -1.9287498479639178e-22}, Case{3, -100, -301.79175946922805},
          Case{5, 20, -485165100.19728202}}) {
        const auto exact = log_prob(Poisson<double>(), {x}, with_targets<double>({y}));
        const auto rough = log_prob(Poisson<float>(), {x}, with_targets<float>({y}));
        BOOST_TEST(exact.value == expected, tt::tolerance(y > 100 ? 1e-11 : 1e-14));
        // What remains is the rounding of log y to a float, times the slope.
        BOOST_TEST(std::abs(rough.value - expected) <
                   1e-6 * std::max(std::abs(expected), std::abs(y - std::exp(x)) * std::abs(x)));
        BOOST_TEST(exact.slope.item() == y - std::exp(x), tt::tolerance(y > 100 ? 1e-11 : 1e-14));
    }
    // A rate beyond the largest float.
    const auto beyond = log_prob(Poisson<float>(), {100}, with_targets<float>({3}));
    BOOST_TEST(beyond.value == -INFINITY);
    BOOST_TEST(beyond.slope.item() == -INFINITY);
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_log_prob_gradients([]<class T>() { return Poisson<T>(); }, []<class T>() { return with_targets<T>(counts); },
                             log_rates);
}

BOOST_AUTO_TEST_CASE(nothing) {
    BOOST_TEST(log_prob(Poisson<double>(), Tensor<double>(), {}).value == 0.0);
    BOOST_TEST(Poisson<double>().score(Tensor<double>(), {}) == 0.0);
}

BOOST_AUTO_TEST_CASE(deviance) {
    const Poisson<double> likelihood;
    // NumPy: mean of 2 (xlogy(y, y / rate) - (y - rate))
    BOOST_TEST(likelihood.finish(likelihood.score(log_rates, with_targets<double>(counts)), 6) == 1.9884621223546983,
               tt::tolerance(1e-14));
    BOOST_TEST(likelihood.score(Tensor<double>{std::log(7.0)}, with_targets<double>({7})) == 0.0);
    BOOST_TEST(likelihood.score_name() == "deviance");
    BOOST_TEST(!likelihood.higher_is_better());
    BOOST_TEST(likelihood.clone()->describe() == "Poisson");
}

BOOST_AUTO_TEST_CASE(errors) {
    const Poisson<double> likelihood;
    const auto wrong = [&](double y) {
        return log_prob_error<ValueError>(likelihood, {1, 2}, with_targets<double>({3, y}));
    };
    BOOST_TEST(wrong(-1) == "Poisson: the target of item 1 is -1; whole numbers from 0 up are needed");
    BOOST_TEST(wrong(2.5) == "Poisson: the target of item 1 is 2.5; whole numbers from 0 up are needed");
    BOOST_TEST(wrong(3.00000001) == "Poisson: the target of item 1 is 3.00000001; whole numbers from 0 up are needed");
    BOOST_TEST(wrong(NAN) == "Poisson: the target of item 1 is nan; whole numbers from 0 up are needed");
    BOOST_TEST(wrong(INFINITY) == "Poisson: the target of item 1 is inf; whole numbers from 0 up are needed");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, {1, 2}, with_targets<double>({1, 2, 3})) ==
               "Poisson: outputs have shape (2), targets (3); targets of shape (2) are needed");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, {1, 2}, Dataset<double>()) ==
               "Poisson: outputs have shape (2) and there are no targets; targets of shape (2) are needed");
    BOOST_TEST(log_prob_error<ShapeError>(likelihood, Tensor<double>::scalar(1), with_targets<double>({1})) ==
               "Poisson: outputs have shape (); their first axis must count the items");
}

BOOST_AUTO_TEST_SUITE_END()
