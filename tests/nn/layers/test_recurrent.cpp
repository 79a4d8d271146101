#include "layer_checks.hpp"
#include "torch_cases.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods/categorical.hpp>
#include <pollen/nn/pruning/compress.hpp>
#include <pollen/nn/training/train.hpp>

using namespace pollen;
using namespace pollen::test;

// Gru and Lstm.
BOOST_AUTO_TEST_SUITE(recurrent_layers)

BOOST_AUTO_TEST_CASE(as_in_pytorch) {
    check_torch("gru", []<class T>() { return Gru<T>(2, 3); });
    check_torch("gru_last", []<class T>() { return Gru<T>(3, 2, {.output = Steps::last}); });
    check_torch("lstm", []<class T>() { return Lstm<T>(2, 3); });
    check_torch("lstm_last", []<class T>() { return Lstm<T>(3, 2, {.output = Steps::last}); });
}

// The comparison sees a wrong weight. h_0 = 0, so the first step does not depend on it.
BOOST_AUTO_TEST_CASE(broken_twin) {
    Gru<double> layer(2, 3);
    give_values<double>(layer, "gru");
    layer.hidden_weight.value.mutable_at(8, 1) += 1e-6;
    const Tensor<double> y = predict<double>(layer, torch("gru", "x")), expected = torch("gru", "y");
    BOOST_TEST(wrong_numbers(y, expected) > 0);
    for (std::int64_t item = 0; item < 3; ++item)
        BOOST_TEST(y(item, 0, 2) == expected(item, 0, 2), boost::test_tools::tolerance(1e-13));
}

BOOST_AUTO_TEST_CASE(gradients) {
    Gru<double> gru(2, 3);
    Lstm<double> lstm(2, 3, {.output = Steps::last});
    fill_parameters(gru);
    fill_parameters(lstm);
    check_layer_gradients(gru, normals({2, 4, 2}));
    check_layer_gradients(lstm, normals({2, 4, 2}));
}

BOOST_AUTO_TEST_CASE(saved_and_bayesian) {
    const Tensor<float> x = cast<float>(normals({6, 5, 3}));
    Gru<float> gru(3, 4);
    fill_parameters(gru);
    check_saved(gru, Gru<float>(3, 4), x);
    check_twin(gru, x, {"input_weight", "hidden_weight", "bias", "hidden_bias"});
    Lstm<float> lstm(3, 4, {.output = Steps::last});
    fill_parameters(lstm);
    check_saved(lstm, Lstm<float>(3, 4, {.output = Steps::last}), x);
    check_twin(lstm, x, {"input_weight", "hidden_weight", "bias"});
}

// The estimators of linear layers do not fit: a network takes them for its Dense layers, and a layer alone refuses.
BOOST_AUTO_TEST_CASE(other_estimators) {
    Sequential net{Gru(2, 3, {.output = Steps::last}), Dense(3, 2)};
    initialise(net, 1);
    const Sequential<float> twin = bayesian(net, {.estimator = Estimator::local});
    BOOST_TEST(twin[0].details().ends_with(", weights, sampled"));
    BOOST_TEST(twin[1].details().ends_with(", local, sampled"));
    BOOST_TEST(error_of<ValueError>([&] { Bayes<float>(net[0].clone(), {.estimator = Estimator::flipout}); }) ==
               "Bayes: the estimators local and flipout are for Dense and convolutions, not for Gru(2, 3), last step");
}

// First values as in PyTorch: uniform between -1 / sqrt(hidden) and 1 / sqrt(hidden), or those that were asked for.
BOOST_AUTO_TEST_CASE(first_values) {
    Lstm<double> lstm(50, 100);
    initialise<double>(lstm, 3);
    double largest = 0, squares = 0;
    const Tensor<double> theta = Parameters<double>(lstm).flatten();
    for (const double x : theta) {
        largest = std::max(largest, std::abs(x));
        squares += x * x;
    }
    BOOST_TEST(largest < 0.1);
    // The mean of x^2 has standard deviation 0.89 / sqrt(60,400) of its expectation 0.01 / 3: a fixed seed, 5 sd.
    BOOST_TEST(std::abs(squares / static_cast<double>(theta.size()) * 300 - 1) < 5 * 0.89 / std::sqrt(60400.0));
    Gru<double> gru(2, 3, {.init = Init::constant(0.25)});
    initialise<double>(gru, 3);
    each_parameter(gru, [](const std::string&, const Parameter<double>& p) {
        for (const double x : p.value) BOOST_TEST(x == 0.25);
    });
}

// Whether the first of 6 numbers is positive: a network has to remember it to the end.
BOOST_AUTO_TEST_CASE(learns_to_remember) {
    Dataset<float> data{.inputs = cast<float>(normals({400, 6, 1}, 4)), .labels = Indices::zeros({400})};
    for (std::int64_t i = 0; i < 400; ++i) data.labels.mutable_data()[i] = data.inputs(i, 0, 0) > 0;
    const auto score = [&](auto layer) {
        Sequential<float> net{std::move(layer), Dense(8, 2)};
        Categorical likelihood;
        train(net, likelihood, data,
              {.epochs = 40, .batch = 50, .optimiser = Adam{.rate = 0.02}, .seed = 1, .show = Show::nothing});
        return evaluate(net, likelihood, data).score;
    };
    BOOST_TEST(score(Gru(1, 8, {.output = Steps::last})) > 0.95);
    BOOST_TEST(score(Lstm(1, 8, {.output = Steps::last})) > 0.95);
}

BOOST_AUTO_TEST_CASE(in_a_network) {
    Sequential net{Embedding(20, 4), Gru(4, 8), Lstm(8, 6, {.output = Steps::last}), Dense(6, 2)};
    BOOST_TEST(summary(net, {5}) ==
               "layer                  output  parameters\n"
               "input                  (5)\n"
               "Embedding(20, 4)       (5, 4)          80\n"
               "Gru(4, 8)              (5, 8)         320\n"
               "Lstm(8, 6), last step  (6)            360\n"
               "Dense(6, 2)            (2)             14\n"
               "774 parameters in all\n");
    initialise(net, 1);
    const Tensor<float> x = Tensor<float>::ones({3, 5});
    const Part<float> same = compress<float>(net);
    BOOST_TEST(bits_are_equal(predict(*same, x), predict(net, x)), "layers that compress() does not know stay");
}

BOOST_AUTO_TEST_CASE(no_items_and_one_of_each) {
    Gru<double> gru(1, 1, {.init = Init::constant(0.5)});
    Lstm<double> lstm(1, 1, {.output = Steps::last, .init = Init::constant(0.5)});
    initialise<double>(gru, 1);
    initialise<double>(lstm, 1);
    BOOST_TEST(to_string(predict<double>(gru, Tensor<double>::zeros({0, 3, 1})).shape()) == "(0, 3, 1)");
    BOOST_TEST(to_string(predict<double>(lstm, Tensor<double>::zeros({0, 3, 1})).shape()) == "(0, 1)");
    const Tensor<double> one = Tensor<double>::ones({1, 1, 1});
    const double gate = 1 / (1 + std::exp(-1.0)), tolerance = 1e-14;
    BOOST_TEST(predict<double>(gru, one).item() == (1 - gate) * std::tanh(1 + gate * 0.5),
               boost::test_tools::tolerance(tolerance));
    BOOST_TEST(predict<double>(lstm, one).item() == gate * std::tanh(gate * std::tanh(1.0)),
               boost::test_tools::tolerance(tolerance));
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { Gru<float>(0, 3); }) == "Gru: inputs is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { Gru<float>(3, 0); }) == "Gru: hidden is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { Lstm<float>(0, 3); }) == "Lstm: inputs is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { Lstm<float>(3, 0); }) == "Lstm: hidden is 0; at least 1 is needed");
    Gru<float> gru(2, 3);
    Lstm<float> lstm(2, 3);
    initialise(gru, 1);
    initialise(lstm, 1);
    const auto at = [](const Module<float>& layer, const Shape& x) {
        return error_of<ShapeError>([&] { predict(layer, Tensor<float>::zeros(x)); });
    };
    BOOST_TEST(at(gru, {4, 2}) == "Gru: x (4, 2); sequences (n, steps, 2) are needed");
    BOOST_TEST(at(gru, {4, 5, 3}) == "Gru: x (4, 5, 3); sequences (n, steps, 2) are needed");
    BOOST_TEST(at(gru, {4, 0, 2}) == "Gru: x (4, 0, 2) has no steps; at least 1 is needed");
    BOOST_TEST(at(lstm, {4, 5, 3}) == "Lstm: x (4, 5, 3); sequences (n, steps, 2) are needed");
    BOOST_TEST(at(lstm, {4, 0, 2}) == "Lstm: x (4, 0, 2) has no steps; at least 1 is needed");
}

BOOST_AUTO_TEST_SUITE_END()
