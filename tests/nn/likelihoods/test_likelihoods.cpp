#include "likelihood_checks.hpp"

#include <pollen/nn/distributions.hpp>
#include <pollen/nn/likelihoods.hpp>

using namespace pollen;
using namespace pollen::test;

// A likelihood is its distribution with a network's outputs for parameters: the same bits, value and gradient.
BOOST_AUTO_TEST_SUITE(likelihoods)

namespace {

template <class T, class F>
void check_same_bits(const Likelihood<T>& likelihood, const Tensor<double>& outputs, const Dataset<T>& batch,
                     const F& density) {
    const LogProb<T> got = log_prob(likelihood, outputs, batch);
    Tape<T> tape;
    const Var<T> x = tape.variable(cast<T>(outputs));
    const Var<T> y = density(x);
    tape.backward(y);
    BOOST_TEST(got.value == y.item(), likelihood.describe());
    BOOST_TEST((got.slope == x.grad()), likelihood.describe());
}

template <class T>
void check_all(std::int64_t n) {
    const Tensor<double> x = normals({n}, 1), y = normals({n}, 2);
    Tensor<double> counts = y, zeros_and_ones = y;
    for (double& count : counts.mutable_values()) count = std::floor(std::abs(4 * count));
    for (double& one : zeros_and_ones.mutable_values()) one = one > 0 ? 1 : 0;
    const Dataset<T> numbers = with_targets<T>(y);
    const Tensor<T>& at = numbers.targets;

    check_same_bits<T>(Gaussian<T>::known(0.7), x, numbers, [&](auto v) { return normal_lpdf(at, v, 0.7); });
    check_same_bits<T>(StudentT<T>::known(4, 0.7), x, numbers, [&](auto v) { return student_t_lpdf(at, 4, v, 0.7); });
    Gaussian<T> gaussian = Gaussian<T>::learned(0.7);
    initialise<T>(gaussian, 1);
    check_same_bits<T>(gaussian, x, numbers, [&](auto v) {
        const Var<T> sd = exp(v.state().leaf("log_sd", Tensor<T>(gaussian.log_sd.value), true));
        return normal_lpdf(at, v, sd);
    });
    StudentT<T> student = StudentT<T>::learned(100, 0.7);
    initialise<T>(student, 1);
    check_same_bits<T>(student, x, numbers, [&](auto v) {
        const Var<T> scale = exp(v.state().leaf("log_scale", Tensor<T>(student.log_scale.value), true));
        return student_t_lpdf(at, 100, v, scale);
    });
    const Dataset<T> coins = with_targets<T>(zeros_and_ones), events = with_targets<T>(counts);
    check_same_bits<T>(Bernoulli<T>(), x, coins, [&](auto v) { return bernoulli_logit_lpmf(coins.targets, v); });
    check_same_bits<T>(Poisson<T>(), x, events, [&](auto v) { return poisson_log_lpmf(events.targets, v); });
    Indices labels = Indices::zeros({n});
    for (std::int64_t i = 0; i < n; ++i) labels.mutable_data()[i] = static_cast<std::int32_t>(i % 3);
    check_same_bits<T>(Categorical<T>(), normals({n, 3}), with_labels<T>(labels),
                       [&](auto v) { return categorical_logit_lpmf(labels, v); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(are_their_distributions) {
    for (const std::int64_t n : {1, 5, 1000, 20'003}) {
        check_all<float>(n);
        check_all<double>(n);
    }
}

// Predicted noise: sd = log(1 + exp(r)) + 1e-6.
BOOST_AUTO_TEST_CASE(predicted_noise) {
    const Tensor<double> outputs = normals({1000, 2}, 1), targets = normals({1000}, 2);
    const auto got = log_prob(Gaussian<double>::predicted(), outputs, with_targets<double>(targets));
    Tape<double> tape;
    const Var<double> x = tape.variable(outputs);
    const Var<double> mean = slice(x, 1, 0, 1), r = slice(x, 1, 1, 2);
    const Var<double> y = normal_lpdf(targets.reshaped({1000, 1}), mean, softplus(r) + 1e-6);
    tape.backward(y);
    BOOST_TEST(got.value == y.item(), boost::test_tools::tolerance(1e-14));
    BOOST_TEST(allclose(got.slope, x.grad(), 1e-13, 1e-13));
}

// Sums of many floats are as exact as a float is.
BOOST_AUTO_TEST_CASE(many_floats) {
    const std::int64_t n = 100'000;
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        const Tensor<double> x = cast<double>(cast<float>(normals({n}, 2 * seed)));
        const Tensor<double> y = cast<double>(cast<float>(normals({n}, 2 * seed + 1)));
        const auto check = [&](const auto& rough, const auto& exact) {
            const double a = static_cast<double>(log_prob<float>(rough, x, with_targets<float>(y)).value);
            const double b = log_prob<double>(exact, x, with_targets<double>(y)).value;
            BOOST_TEST(std::abs(a - b) < 3e-7 * std::abs(b), rough.describe() << ": " << a << " and " << b);
        };
        for (const double sd : {0.0625, 0.5, 1.0, 32.0}) {
            check(Gaussian<float>::known(sd), Gaussian<double>::known(sd));
            check(StudentT<float>::known(4, sd), StudentT<double>::known(4, sd));
            check(StudentT<float>::known(100, sd), StudentT<double>::known(100, sd));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()
