#include "layer_checks.hpp"
#include "torch_cases.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/pruning/compress.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(attention)

BOOST_AUTO_TEST_CASE(as_in_pytorch) {
    check_torch("attention", []<class T>() { return MultiHeadAttention<T>(6, 2); });
    check_torch("attention_causal", []<class T>() { return MultiHeadAttention<T>(4, 1, {.causal = true}); });
    check_torch("attention_without_bias", []<class T>() { return MultiHeadAttention<T>(4, 4, {.bias = false}); });
}

BOOST_AUTO_TEST_CASE(gradients) {
    for (const bool causal : {false, true}) {
        MultiHeadAttention<double> layer(4, 2, {.causal = causal});
        fill_parameters(layer, 5, 0.3);
        check_layer_gradients(layer, uniforms({2, 3, 4}, -1, 1));
    }
}

BOOST_AUTO_TEST_CASE(saved_and_bayesian) {
    const Tensor<float> x = cast<float>(normals({3, 5, 6}));
    MultiHeadAttention<float> layer(6, 3, {.causal = true});
    fill_parameters(layer);
    check_saved(layer, MultiHeadAttention<float>(6, 3, {.causal = true}), x);
    check_twin(layer, x, {"input_weight", "input_bias", "output_weight", "output_bias"});
}

// A step of causal attention does not see later steps; without the mask it does.
BOOST_AUTO_TEST_CASE(later_steps) {
    Tensor<float> x = cast<float>(normals({2, 6, 8})), changed = x;
    for (std::int64_t k = 0; k < 8; ++k) changed.mutable_at(1, 4, k) += 1;
    for (const bool causal : {true, false}) {
        MultiHeadAttention<float> layer(8, 2, {.causal = causal});
        fill_parameters(layer);
        const Tensor<float> before = predict(layer, x), after = predict(layer, changed);
        for (std::int64_t step = 0; step < 6; ++step)
            for (std::int64_t k = 0; k < 8; ++k) {
                BOOST_TEST(before(0, step, k) == after(0, step, k));
                BOOST_TEST((before(1, step, k) == after(1, step, k)) == (causal && step < 4));
            }
    }
}

// Scores far beyond what exp takes, and steps with one large score.
BOOST_AUTO_TEST_CASE(large_scores) {
    MultiHeadAttention<float> layer(2, 1, {.bias = false});
    initialise(layer, 1);
    layer.input_weight.value = Tensor<float>({6, 2}, {1000, 0, 0, 1000, 1, 0, 0, 1, 1, 0, 0, 1});
    layer.output_weight.value = Tensor<float>::eye(2);
    // Each step sees the one that lies farthest in its own direction: the third, the second, the third.
    const Tensor<float> y = predict(layer, Tensor<float>({1, 3, 2}, {1, 0, 0, 1, 2, 0}));
    BOOST_TEST(y == Tensor<float>({1, 3, 2}, {2, 0, 0, 1, 2, 0}));
}

// In training, and in draws. With rate 1/2 an attention weight is 0 or twice what it was.
BOOST_AUTO_TEST_CASE(attention_dropout) {
    MultiHeadAttention<double> layer(1, 1, {.dropout = 0.5, .bias = false});
    initialise<double>(layer, 1);
    layer.input_weight.value = Tensor<double>({3, 1}, {0, 0, 1});
    layer.output_weight.value = Tensor<double>::ones({1, 1});
    const Tensor<double> x({1, 4, 1}, {1, 10, 100, 1000});
    const Tensor<double> plain = predict<double>(layer, x);
    for (const double y : plain) BOOST_TEST(y == 1111 / 4.0);
    bool other = false;
    for (std::uint64_t draw = 0; draw < 8; ++draw) {
        const Tensor<double> drawn = predict<double>(layer, x, {.mode = Mode::sample, .draw = draw});
        for (const double y : drawn) {
            auto rest = static_cast<std::int64_t>(2 * y);
            BOOST_TEST(static_cast<double>(rest) == 2 * y);
            for (; rest > 0; rest /= 10) BOOST_TEST(rest % 10 <= 1);
            other |= y != 1111 / 4.0;
        }
    }
    BOOST_TEST(other);
    // The rows of a batch draw the same numbers however it is cut.
    MultiHeadAttention<float> wide(8, 2, {.dropout = 0.3});
    fill_parameters(wide);
    const Tensor<float> many = cast<float>(normals({9, 5, 8}));
    BOOST_TEST(bits_are_equal(predict(wide, many, {.batch = 2, .mode = Mode::sample}),
                              predict(wide, many, {.batch = 9, .mode = Mode::sample})));
}

BOOST_AUTO_TEST_CASE(first_values) {
    MultiHeadAttention<double> layer(64, 4);
    initialise<double>(layer, 3);
    const auto largest = [](const Parameter<double>& p) {
        double most = 0;
        for (const double x : p.value) most = std::max(most, std::abs(x));
        return most;
    };
    // xavier_uniform_ of PyTorch for (192, 64) and (64, 64); 12,288 and 4,096 numbers come within 1 % of the bounds.
    BOOST_TEST(largest(layer.input_weight) == std::sqrt(6 / 256.0), boost::test_tools::tolerance(0.01));
    BOOST_TEST(largest(layer.output_weight) == std::sqrt(6 / 128.0), boost::test_tools::tolerance(0.01));
    BOOST_TEST(largest(layer.input_bias) == 0);
    BOOST_TEST(largest(layer.output_bias) == 0);
}

BOOST_AUTO_TEST_CASE(in_a_network) {
    Sequential net{Residual(Sequential{LayerNorm(8), MultiHeadAttention(8, 2, {.causal = true, .dropout = 0.1})}),
                   GlobalAvgPool(PoolOver::steps), Dense(8, 3)};
    BOOST_TEST(summary(net, {5, 8}) ==
               "layer                                          output  parameters\n"
               "input                                          (5, 8)\n"
               "LayerNorm(8)                                   (5, 8)          16\n"
               "MultiHeadAttention(8, 2), causal, dropout 0.1  (5, 8)         288\n"
               "GlobalAvgPool over steps                       (8)              0\n"
               "Dense(8, 3)                                    (3)             27\n"
               "331 parameters in all\n");
    initialise(net, 1);
    const Tensor<float> x = cast<float>(normals({3, 5, 8}));
    BOOST_TEST(bits_are_equal(predict(*compress<float>(net), x), predict(net, x)));
}

BOOST_AUTO_TEST_CASE(no_items_and_one_of_each) {
    MultiHeadAttention<double> layer(4, 2), one(1, 1, {.causal = true, .bias = false});
    fill_parameters(layer);
    fill_parameters(one);
    BOOST_TEST(to_string(predict<double>(layer, Tensor<double>::zeros({0, 3, 4})).shape()) == "(0, 3, 4)");
    BOOST_TEST(predict<double>(one, Tensor<double>::ones({1, 1, 1})).item() ==
               one.input_weight.value(2, 0) * one.output_weight.value.item());
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto make = [](std::int64_t features, std::int64_t heads, double rate = 0) {
        return error_of<ValueError>([&] { MultiHeadAttention<float>(features, heads, {.dropout = rate}); });
    };
    BOOST_TEST(make(0, 1) == "MultiHeadAttention: features is 0; at least 1 is needed");
    BOOST_TEST(make(4, 0) == "MultiHeadAttention: heads is 0; at least 1 is needed");
    BOOST_TEST(make(4, 3) == "MultiHeadAttention: 3 heads do not divide 4 features");
    BOOST_TEST(make(4, 2, 1) == "MultiHeadAttention: dropout is 1; it must be at least 0 and less than 1");
    BOOST_TEST(MultiHeadAttention<float>(4, 2, {.bias = false}).describe() == "MultiHeadAttention(4, 2), without bias");
    MultiHeadAttention<float> layer(4, 2);
    initialise(layer, 1);
    const auto at = [&](const Shape& x) {
        return error_of<ShapeError>([&] { predict(layer, Tensor<float>::zeros(x)); });
    };
    BOOST_TEST(at({3, 4}) == "MultiHeadAttention: x (3, 4); sequences (n, steps, 4) are needed");
    BOOST_TEST(at({3, 5, 6}) == "MultiHeadAttention: x (3, 5, 6); sequences (n, steps, 4) are needed");
    BOOST_TEST(at({3, 0, 4}) == "MultiHeadAttention: x (3, 0, 4) has no steps; at least 1 is needed");
}

BOOST_AUTO_TEST_SUITE_END()
