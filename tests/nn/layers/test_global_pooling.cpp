#include "layer_checks.hpp"
#include "torch_cases.hpp"

#include <pollen/nn/layers.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(global_pooling)

BOOST_AUTO_TEST_CASE(as_in_pytorch) {
    check_torch("global_avg_pool", []<class T>() { return GlobalAvgPool<T>(); });
    check_torch("global_max_pool", []<class T>() { return GlobalMaxPool<T>(); });
    check_torch("global_avg_pool_sequence", []<class T>() { return GlobalAvgPool<T>(); });
    check_torch("global_avg_pool_steps", []<class T>() { return GlobalAvgPool<T>(PoolOver::steps); });
    check_torch("global_max_pool_steps", []<class T>() { return GlobalMaxPool<T>(PoolOver::steps); });
}

BOOST_AUTO_TEST_CASE(gradients) {
    check_layer_gradients(GlobalAvgPool<double>(), normals({2, 3, 4, 5}));
    check_layer_gradients(GlobalMaxPool<double>(), normals({2, 3, 4, 5}));
    check_layer_gradients(GlobalAvgPool<double>(PoolOver::steps), normals({2, 3, 4}));
    check_layer_gradients(GlobalMaxPool<double>(PoolOver::steps), normals({2, 3, 4}));
}

BOOST_AUTO_TEST_CASE(in_a_network) {
    const Sequential net{Conv2d(3, 8, 3), Relu(), GlobalMaxPool(), Dense(8, 2)};
    BOOST_TEST(summary(net, {3, 8, 8}) ==
               "layer            output     parameters\n"
               "input            (3, 8, 8)\n"
               "Conv2d(3, 8, 3)  (8, 6, 6)         224\n"
               "Relu             (8, 6, 6)           0\n"
               "GlobalMaxPool    (8)                 0\n"
               "Dense(8, 2)      (2)                18\n"
               "242 parameters in all\n");
    BOOST_TEST(GlobalAvgPool<float>(PoolOver::steps).describe() == "GlobalAvgPool over steps");
    Sequential trained = net;
    initialise(trained, 1);
    const Tensor<float> x = cast<float>(normals({4, 3, 8, 8}));
    const Sequential<float> twin = bayesian(trained, {.posterior = point_mass<float>()});
    BOOST_TEST(bits_are_equal(predict(twin, x), predict(trained, x)));
}

BOOST_AUTO_TEST_CASE(no_items_and_one_of_each) {
    const auto shape = [](const Module<double>& layer, const Shape& x) {
        return to_string(predict(layer, Tensor<double>::zeros(x)).shape());
    };
    BOOST_TEST(shape(GlobalAvgPool<double>(), {0, 3, 4, 4}) == "(0, 3)");
    BOOST_TEST(shape(GlobalMaxPool<double>(), {0, 3, 4}) == "(0, 3)");
    BOOST_TEST(shape(GlobalMaxPool<double>(PoolOver::steps), {2, 1, 0}) == "(2, 0)");
    for (const double x : {-2.5, 0.75}) {
        BOOST_TEST(predict(GlobalAvgPool<double>(), Tensor<double>::full({1, 1, 1}, x)).item() == x);
        BOOST_TEST(predict(GlobalMaxPool<double>(), Tensor<double>::full({1, 1, 1}, x)).item() == x);
    }
}

BOOST_AUTO_TEST_CASE(errors) {
    const auto at = [](const Module<float>& layer, const Shape& x) {
        return error_of<ShapeError>([&] { predict(layer, Tensor<float>::zeros(x)); });
    };
    BOOST_TEST(at(GlobalAvgPool<float>(), {2, 3}) ==
               "GlobalAvgPool: x (2, 3); images or sequences (n, channels, ...) are needed");
    BOOST_TEST(at(GlobalMaxPool<float>(PoolOver::steps), {2, 3, 4, 5}) ==
               "GlobalMaxPool: x (2, 3, 4, 5); sequences (n, steps, features) are needed");
    BOOST_TEST(at(GlobalMaxPool<float>(), {2, 3, 0, 5}) ==
               "GlobalMaxPool: x (2, 3, 0, 5) has no positions; at least 1 is needed");
    BOOST_TEST(at(GlobalAvgPool<float>(PoolOver::steps), {2, 0, 5}) ==
               "GlobalAvgPool: x (2, 0, 5) has no steps; at least 1 is needed");
}

BOOST_AUTO_TEST_SUITE_END()
