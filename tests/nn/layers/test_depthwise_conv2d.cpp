#include "layer_checks.hpp"
#include "torch_cases.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/pruning/compress.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(depthwise_conv2d)

BOOST_AUTO_TEST_CASE(as_in_pytorch) {
    check_torch("depthwise_conv2d", []<class T>() { return DepthwiseConv2d<T>(3, 3, {.padding = 1}); });
    check_torch("depthwise_conv2d_multiplier", []<class T>() {
        return DepthwiseConv2d<T>(2, {3, 2}, {.multiplier = 2, .stride = {1, 2}, .dilation = {2, 1}, .bias = false});
    });
}

BOOST_AUTO_TEST_CASE(gradients) {
    DepthwiseConv2d<double> layer(3, 3, {.multiplier = 2, .stride = 2, .padding = 1});
    fill_parameters(layer);
    check_layer_gradients(layer, normals({2, 3, 5, 4}));
}

BOOST_AUTO_TEST_CASE(saved_and_bayesian) {
    DepthwiseConv2d<float> layer(3, 3, {.padding = 1});
    fill_parameters(layer);
    const Tensor<float> x = cast<float>(normals({4, 3, 5, 5}));
    check_saved(layer, DepthwiseConv2d<float>(3, 3, {.padding = 1}), x);
    check_twin(layer, x, {"weight", "bias"});
}

// In a network it is a Conv2d: copies, files and compress() know it as such.
BOOST_AUTO_TEST_CASE(is_a_conv2d) {
    Sequential net{DepthwiseConv2d(8, 3, {.padding = 1}), Relu()};
    initialise(net, 1);
    BOOST_TEST(net[0].describe() == "Conv2d(8, 8, 3), padding 1, groups 8");
    BOOST_TEST(parameter_count<float>(net) == 8 * 9 + 8);
    auto& conv = dynamic_cast<Conv2d<float>&>(net[0]);
    const Tensor<float> x = cast<float>(normals({2, 8, 6, 6}));
    for (std::int64_t i = 0; i < conv.weight.value.size(); ++i)
        if (i % 9 != 4) conv.weight.value.mutable_data()[i] = 0;
    const Part<float> small = compress<float>(net);
    BOOST_TEST(dynamic_cast<const Sequential<float>&>(*small)[0].describe() == "SparseConv2d(8, 8, 3, 11.1 %)");
    BOOST_TEST(allclose(predict(*small, x), predict(net, x), 1e-6f, 1e-6f));
}

BOOST_AUTO_TEST_CASE(no_items_and_one_of_each) {
    DepthwiseConv2d<double> layer(2, 3), one(1, 1);
    fill_parameters(layer);
    fill_parameters(one);
    BOOST_TEST(to_string(predict<double>(layer, Tensor<double>::zeros({0, 2, 5, 4})).shape()) == "(0, 2, 3, 2)");
    BOOST_TEST(predict<double>(one, Tensor<double>::full({1, 1, 1, 1}, 2)).item() ==
               2 * one.weight.value.item() + one.bias.value.item());
}

BOOST_AUTO_TEST_CASE(errors) {
    BOOST_TEST(error_of<ValueError>([] { DepthwiseConv2d<float>(0, 3); }) ==
               "DepthwiseConv2d: channels is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { DepthwiseConv2d<float>(3, 3, {.multiplier = 0}); }) ==
               "DepthwiseConv2d: multiplier is 0; at least 1 is needed");
    DepthwiseConv2d<float> layer(2, 3);
    initialise(layer, 1);
    BOOST_TEST(error_of<ShapeError>([&] {
                   predict(layer, Tensor<float>::zeros({4, 3, 5, 5}));
               }) == "conv2d: 2 groups do not divide the 3 channels of x (4, 3, 5, 5)");
}

BOOST_AUTO_TEST_SUITE_END()
