#include "layer_checks.hpp"
#include "torch_cases.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/pruning/compress.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(conv1d)

BOOST_AUTO_TEST_CASE(as_in_pytorch) {
    check_torch("conv1d", []<class T>() { return Conv1d<T>(2, 3, 3); });
    check_torch("conv1d_stride_padding", []<class T>() { return Conv1d<T>(2, 2, 4, {.stride = 3, .padding = 2}); });
    check_torch("conv1d_dilation", []<class T>() { return Conv1d<T>(1, 2, 3, {.dilation = 2, .bias = false}); });
    check_torch("conv1d_groups", []<class T>() { return Conv1d<T>(4, 6, 3, {.padding = 1, .groups = 2}); });
    check_torch("max_pool1d", []<class T>() { return MaxPool1d<T>(2); });
    check_torch("max_pool1d_stride", []<class T>() { return MaxPool1d<T>(3, {.stride = 2, .padding = 1}); });
    check_torch("avg_pool1d", []<class T>() { return AvgPool1d<T>(2); });
    check_torch("avg_pool1d_stride", []<class T>() { return AvgPool1d<T>(3, {.stride = 2, .padding = 1}); });
}

BOOST_AUTO_TEST_CASE(gradients) {
    Conv1d<double> layer(4, 6, 3, {.stride = 2, .padding = 1, .dilation = 2, .groups = 2});
    fill_parameters(layer);
    check_layer_gradients(layer, normals({3, 4, 9}));
    check_layer_gradients(AvgPool1d<double>(3, {.padding = 1}), normals({2, 3, 7}));
    check_layer_gradients(MaxPool1d<double>(3, {.padding = 1}), normals({2, 3, 7}));
}

// Relu is computed along, with the same bits.
BOOST_AUTO_TEST_CASE(with_a_relu_behind_it) {
    Sequential<float> net{Conv1d(2, 3, 3), Relu()};
    initialise(net, 1);
    const Tensor<float> x = cast<float>(normals({5, 2, 8}));
    Tape<float> tape;
    const Parameters<float> parameters(net);
    Pass<float> pass(tape, parameters, {});
    const Tensor<float> fused = net(pass, tape.constant(x)).value();
    BOOST_TEST(tape.to_string().find("conv2d_relu") != std::string::npos);
    pass.observer = [](const Module<float>&, const Var<float>&) {};
    BOOST_TEST(bits_are_equal(net(pass, tape.constant(x)).value(), fused));
    const Sequential<float> twin = bayesian(net, {.posterior = point_mass<float>()});
    BOOST_TEST(bits_are_equal(predict(twin, x), fused));
}

BOOST_AUTO_TEST_CASE(saved_and_bayesian) {
    Conv1d<float> layer(3, 4, 5, {.padding = 2});
    fill_parameters(layer);
    const Tensor<float> x = cast<float>(normals({6, 3, 7}));
    check_saved(layer, Conv1d<float>(3, 4, 5, {.padding = 2}), x);
    check_twin(layer, x, {"weight", "bias"});
}

// One sign for each item and channel: with a kernel of one number, a flipout draw is that of a Dense at each place.
BOOST_AUTO_TEST_CASE(flipout) {
    Conv1d<double> layer(3, 4, 1);
    Dense<double> dense(3, 4);
    fill_parameters(layer);
    dense.weight.value = Tensor<double>({4, 3}, layer.weight.value.values());
    dense.bias.value = layer.bias.value;
    const BayesOptions<double> options{.posterior = mean_field<double>(0.1), .estimator = Estimator::flipout};
    const Bayes<double> of_conv = bayesian(layer, options), of_dense = bayesian(dense, options);
    const Tensor<double> x = normals({5, 3, 2});
    const auto outputs = [](const Bayes<double>& twin, const Tensor<double>& in) {
        Tape<double> tape;
        const Parameters<double> parameters(twin);
        Pass<double> pass(tape, parameters, {.mode = Mode::train, .seed = 9});
        return twin(pass, tape.constant(in)).value();
    };
    const Tensor<double> y = outputs(of_conv, x);
    for (std::int64_t place = 0; place < 2; ++place) {
        Tensor<double> at = Tensor<double>::zeros({5, 3});
        for (std::int64_t i = 0; i < 15; ++i) at.mutable_data()[i] = x.data()[2 * i + place];
        const Tensor<double> expected = outputs(of_dense, at);
        for (std::int64_t i = 0; i < 20; ++i)
            BOOST_TEST(y.data()[2 * i + place] == expected.data()[i], boost::test_tools::tolerance(1e-12));
    }
}

BOOST_AUTO_TEST_CASE(stays_dense_when_compressed) {
    Sequential<float> net{Conv1d(3, 4, 5), Flatten(), Dense(12, 2)};
    initialise(net, 1);
    each_parameter(net, [](const std::string&, Parameter<float>& p) { p.value = Tensor<float>::zeros(p.shape); });
    std::string layers;
    each_module<const Module<float>>(*compress<float>(net), [&](const std::string&, const Module<float>& m) {
        layers += m.describe() + "; ";
        return true;
    });
    BOOST_TEST(layers == "Sequential(3 parts); Conv1d(3, 4, 5); Flatten; SparseDense(12, 2, 0.0 %); ");
}

BOOST_AUTO_TEST_CASE(no_items_and_one_of_each) {
    Conv1d<double> layer(2, 3, 2), one(1, 1, 1);
    fill_parameters(layer);
    fill_parameters(one);
    BOOST_TEST(to_string(predict<double>(layer, Tensor<double>::zeros({0, 2, 5})).shape()) == "(0, 3, 4)");
    BOOST_TEST(predict<double>(one, Tensor<double>::full({1, 1, 1}, 2)).item() ==
               2 * one.weight.value.item() + one.bias.value.item());
    BOOST_TEST(predict<double>(MaxPool1d<double>(1), Tensor<double>::full({1, 1, 1}, 2)).item() == 2);
}

BOOST_AUTO_TEST_CASE(describes_itself) {
    BOOST_TEST(Conv1d<float>(4, 6, 3).describe() == "Conv1d(4, 6, 3)");
    BOOST_TEST(
        Conv1d<float>(4, 6, 3, {.stride = 2, .padding = 1, .dilation = 3, .groups = 2, .bias = false}).describe() ==
        "Conv1d(4, 6, 3), stride 2, padding 1, dilation 3, groups 2, without bias");
    BOOST_TEST(MaxPool1d<float>(3).describe() == "MaxPool1d(3)");
    BOOST_TEST(AvgPool1d<float>(3, {.stride = 2, .padding = 1}).describe() == "AvgPool1d(3), stride 2, padding 1");
    const Sequential net{Conv1d(2, 8, 3), Relu(), MaxPool1d(2), GlobalAvgPool(), Dense(8, 3)};
    BOOST_TEST(summary(net, {2, 16}) ==
               "layer            output   parameters\n"
               "input            (2, 16)\n"
               "Conv1d(2, 8, 3)  (8, 14)          56\n"
               "Relu             (8, 14)           0\n"
               "MaxPool1d(2)     (8, 7)            0\n"
               "GlobalAvgPool    (8)               0\n"
               "Dense(8, 3)      (3)              27\n"
               "83 parameters in all\n");
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto make = [](std::int64_t in, std::int64_t out, std::int64_t kernel, Conv1dOptions options = {}) {
        return error_of<ValueError>([&] { Conv1d<float>(in, out, kernel, options); });
    };
    BOOST_TEST(make(0, 1, 1) == "Conv1d: inputs is 0; at least 1 is needed");
    BOOST_TEST(make(1, 0, 1) == "Conv1d: outputs is 0; at least 1 is needed");
    BOOST_TEST(make(1, 1, 0) == "Conv1d: kernel is 0; at least 1 is needed");
    BOOST_TEST(make(1, 1, 1, {.stride = 0}) == "Conv1d: stride is 0; at least 1 is needed");
    BOOST_TEST(make(1, 1, 1, {.dilation = 0}) == "Conv1d: dilation is 0; at least 1 is needed");
    BOOST_TEST(make(1, 1, 1, {.padding = -1}) == "Conv1d: padding is -1; it must not be negative");
    BOOST_TEST(make(3, 2, 1, {.groups = 2}) == "Conv1d: 2 groups do not divide 3 inputs and 2 outputs");
    BOOST_TEST(error_of<ValueError>([] { MaxPool1d<float>(0); }) == "MaxPool1d: size is 0; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { AvgPool1d<float>(2, {.stride = -1}); }) ==
               "AvgPool1d: stride is -1; at least 1 is needed");
    BOOST_TEST(error_of<ValueError>([] { AvgPool1d<float>(3, {.padding = 2}); }) ==
               "AvgPool1d: padding is 2; it must be from 0 to 1, half of the size");

    Conv1d<float> layer(2, 3, 3, {.padding = 1, .dilation = 4});
    initialise(layer, 1);
    const auto at = [](const Module<float>& module, const Shape& x) {
        return error_of<ShapeError>([&] { predict(module, Tensor<float>::zeros(x)); });
    };
    BOOST_TEST(at(layer, {4, 3, 9}) == "Conv1d: x (4, 3, 9); sequences (n, 2, length) are needed");
    BOOST_TEST(at(layer, {4, 2}) == "Conv1d: x (4, 2); sequences (n, 2, length) are needed");
    BOOST_TEST(at(layer, {4, 2, 6}) == "Conv1d: the kernel covers 9 numbers; x (4, 2, 6) with padding 1 has only 8");
    BOOST_TEST(at(MaxPool1d<float>(2), {4, 2}) == "MaxPool1d: x (4, 2); sequences (n, channels, length) are needed");
    BOOST_TEST(at(AvgPool1d<float>(5, {.padding = 1}), {4, 2, 2}) ==
               "AvgPool1d: size 5 is larger than x (4, 2, 2) with padding 1");
}

BOOST_AUTO_TEST_SUITE_END()
