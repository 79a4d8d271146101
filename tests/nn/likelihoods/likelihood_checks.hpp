#pragma once

#include "../../support.hpp"

#include <pollen/nn/likelihoods/likelihood.hpp>
#include <pollen/nn/module/module.hpp>

// What the tests of the likelihoods share.
namespace pollen::test {

// A batch of targets, or of labels; a likelihood never looks at the inputs.
template <class T>
Dataset<T> with_targets(const Tensor<double>& targets) {
    return {.inputs = Tensor<T>(), .targets = cast<T>(targets)};
}
template <class T>
Dataset<T> with_labels(const Indices& labels) {
    return {.inputs = Tensor<T>(), .labels = labels};
}

// log p and its gradients with respect to the outputs and to the likelihood's own parameters, if it has any.
template <class T>
struct LogProb {
    T value;
    Tensor<T> slope;
    std::vector<Tensor<T>> parameters;
};

template <class T>
LogProb<T> log_prob(const Likelihood<T>& likelihood, const Tensor<double>& outputs, const Dataset<T>& batch) {
    Tape<T> tape;
    const Parameters<T> parameters(likelihood);
    Pass<T> pass(tape, parameters, {});
    const Var<T> x = tape.variable(cast<T>(outputs));
    const Var<T> y = likelihood.log_prob(pass, x, batch);
    tape.backward(y);
    LogProb<T> result{y.item(), x.grad(), {}};
    for (const Var<T>& leaf : pass.leaves()) result.parameters.push_back(leaf.grad());
    return result;
}

// check_gradients() of log p as a function of the outputs, for a likelihood without parameters. make<T>() gives the
// likelihood, batch<T>() the data.
template <class Make, class Batch>
void check_log_prob_gradients(const Make& make, const Batch& batch, const Tensor<double>& outputs) {
    check_gradients(
        [&]<class T>(Var<T> x) {
            const auto likelihood = make.template operator()<T>();
            const Parameters<T> none(likelihood);
            Tape<T> unused;
            Pass<T> pass(unused, none, {});
            return likelihood.log_prob(pass, x, batch.template operator()<T>());
        },
        outputs);
}

// The derivative with respect to the only parameter, one number, against central differences; and float against double.
template <class Make, class Batch>
void check_parameter_slope(const Make& make, const Batch& batch, const Tensor<double>& outputs, double at) {
    const auto value = [&](double p) {
        auto likelihood = make.template operator()<double>();
        unflatten(likelihood, std::span<const double>(&p, 1));
        return log_prob<double>(likelihood, outputs, batch.template operator()<double>());
    };
    const double h = 1e-3;
    const double differences =
        (8 * (value(at + h).value - value(at - h).value) - (value(at + 2 * h).value - value(at - 2 * h).value)) /
        (12 * h);
    const LogProb<double> exact = value(at);
    BOOST_TEST(exact.parameters.at(0).item() == differences, boost::test_tools::tolerance(1e-9));

    auto likelihood = make.template operator()<float>();
    const float p = static_cast<float>(at);
    unflatten(likelihood, std::span<const float>(&p, 1));
    const LogProb<float> rough = log_prob<float>(likelihood, outputs, batch.template operator()<float>());
    BOOST_TEST(std::abs(rough.parameters.at(0).item() - exact.parameters[0].item()) < 1e-4);
    BOOST_TEST(std::abs(rough.value - exact.value) < 1e-4);
    BOOST_TEST(allclose(cast<double>(rough.slope), exact.slope, 1e-4, 1e-5));
}

// The text of the error that log_prob() throws; score() must throw the same.
template <class E, class T>
std::string log_prob_error(const Likelihood<T>& likelihood, const Tensor<double>& outputs, const Dataset<T>& batch) {
    std::string text = error_of<E>([&] { log_prob<T>(likelihood, outputs, batch); });
    BOOST_TEST(error_of<E>([&] { likelihood.score(cast<T>(outputs), batch); }) == text);
    return text;
}

}  // namespace pollen::test
