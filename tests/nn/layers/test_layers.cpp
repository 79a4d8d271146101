#include "torch_cases.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>

using namespace pollen;
using namespace pollen::test;

// Every layer and every likelihood, with its gradients, against what PyTorch made of the same numbers.
BOOST_AUTO_TEST_SUITE(layers)

namespace {

template <class Make>
void check_likelihood(const char* test, const Make& make) {
    BOOST_TEST_CONTEXT(test) {
        const auto both = [&]<class T>() {
            auto likelihood = make.template operator()<T>();
            give_values<T>(likelihood, test);
            Dataset<T> batch;
            if (std::string_view(test) == "categorical")
                batch.labels = cast<std::int32_t>(torch(test, "targets"));
            else
                batch.targets = cast<T>(torch(test, "targets"));
            compare_with_torch<T>(test, likelihood,
                                  [&](Pass<T>& pass, Var<T> x) { return likelihood.log_prob(pass, x, batch); });
        };
        both.template operator()<float>();
        both.template operator()<double>();
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(dense) {
    check_torch("dense", []<class T>() { return Dense<T>(4, 5); });
    check_torch("dense_without_bias", []<class T>() { return Dense<T>(4, 2, {.bias = false}); });
}

BOOST_AUTO_TEST_CASE(convolutions) {
    check_torch("conv2d", []<class T>() { return Conv2d<T>(2, 3, {3, 2}); });
    check_torch("conv2d_stride_padding", []<class T>() {
        return Conv2d<T>(2, 2, 3, {.stride = {2, 1}, .padding = {1, 2}});
    });
    check_torch("conv2d_dilation", []<class T>() {
        return Conv2d<T>(1, 2, {2, 3}, {.dilation = {3, 2}, .bias = false});
    });
    check_torch("conv2d_groups", []<class T>() { return Conv2d<T>(4, 6, 3, {.padding = 1, .groups = 2}); });
}

BOOST_AUTO_TEST_CASE(transposed_convolutions) {
    check_torch("conv_transpose2d", []<class T>() { return ConvTranspose2d<T>(2, 3, {2, 3}); });
    check_torch("conv_transpose2d_stride", []<class T>() {
        return ConvTranspose2d<T>(2, 2, 3, {.stride = {2, 3}, .padding = {1, 0}, .output_padding = {1, 2}});
    });
    check_torch("conv_transpose2d_groups",
                []<class T>() { return ConvTranspose2d<T>(4, 2, 2, {.dilation = 2, .groups = 2, .bias = false}); });
}

BOOST_AUTO_TEST_CASE(pooling) {
    check_torch("max_pool2d", []<class T>() { return MaxPool2d<T>(2); });
    check_torch("max_pool2d_stride", []<class T>() { return MaxPool2d<T>({3, 2}, {.stride = {2, 1}, .padding = 1}); });
    check_torch("avg_pool2d", []<class T>() { return AvgPool2d<T>(2); });
    check_torch("avg_pool2d_stride", []<class T>() { return AvgPool2d<T>({3, 2}, {.stride = {2, 1}, .padding = 1}); });
    check_torch("flatten", []<class T>() { return Flatten<T>(); });
}

BOOST_AUTO_TEST_CASE(normalisation) {
    check_torch("layer_norm", []<class T>() { return LayerNorm<T>(6); });
    check_torch("layer_norm_images", []<class T>() { return LayerNorm<T>(3, 1e-3); });
    check_torch("filter_response_norm", []<class T>() { return FilterResponseNorm<T>(3); });
}

BOOST_AUTO_TEST_CASE(embedding) {
    check_torch("embedding", []<class T>() { return Embedding<T>(5, 4); });
}

BOOST_AUTO_TEST_CASE(activations) {
    check_torch("relu", []<class T>() { return Relu<T>(); });
    check_torch("leaky_relu", []<class T>() { return LeakyRelu<T>(); });
    check_torch("leaky_relu_slope", []<class T>() { return LeakyRelu<T>(0.25); });
    check_torch("elu", []<class T>() { return Elu<T>(); });
    check_torch("elu_alpha", []<class T>() { return Elu<T>(1.5); });
    check_torch("gelu", []<class T>() { return Gelu<T>(); });
    check_torch("swish", []<class T>() { return Swish<T>(); });
    check_torch("tanh", []<class T>() { return Tanh<T>(); });
    check_torch("sigmoid", []<class T>() { return Sigmoid<T>(); });
    check_torch("softplus", []<class T>() { return Softplus<T>(); });
    check_torch("dropout", []<class T>() { return Dropout<T>(0.5); });
}

BOOST_AUTO_TEST_CASE(networks) {
    check_torch("residual", []<class T>() { return Residual(Sequential(Dense<T>(4, 5), Tanh<T>(), Dense<T>(5, 4))); });
    check_torch("residual_shortcut", []<class T>() {
        return Residual(Sequential(Dense<T>(4, 2), Relu<T>()), Dense<T>(4, 2, {.bias = false}));
    });
    check_torch("network", []<class T>() {
        return Sequential(Conv2d<T>(1, 2, 3, {.padding = 1}), Tanh<T>(), MaxPool2d<T>(2), Flatten<T>(), Dense<T>(8, 3));
    });
}

BOOST_AUTO_TEST_CASE(likelihoods) {
    check_likelihood("categorical", []<class T>() { return Categorical<T>(); });
    check_likelihood("bernoulli", []<class T>() { return Bernoulli<T>(); });
    check_likelihood("gaussian_known", []<class T>() { return Gaussian<T>::known(0.75); });
    check_likelihood("gaussian_learned", []<class T>() { return Gaussian<T>::learned(); });
    check_likelihood("gaussian_predicted", []<class T>() { return Gaussian<T>::predicted(); });
    check_likelihood("poisson", []<class T>() { return Poisson<T>(); });
    check_likelihood("student_t_known", []<class T>() { return StudentT<T>::known(4, 0.75); });
    check_likelihood("student_t_learned", []<class T>() { return StudentT<T>::learned(2.5); });
}

// The comparison sees a wrong parameter.
BOOST_AUTO_TEST_CASE(broken_twin) {
    Dense<double> layer(4, 5);
    give_values<double>(layer, "dense");
    layer.weight.value.mutable_at(2, 3) += 1e-6;
    const Tensor<double> y = predict<double>(layer, torch("dense", "x"));
    BOOST_TEST(wrong_numbers(y, torch("dense", "y")) == 3);
}

BOOST_AUTO_TEST_SUITE_END()
