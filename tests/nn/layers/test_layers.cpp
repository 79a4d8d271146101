#include "../../support.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>

#include <string_view>

using namespace pollen;
using namespace pollen::test;

// Every layer and every likelihood, with its gradients, against what PyTorch made of the same numbers.
BOOST_AUTO_TEST_SUITE(layers)

namespace {

struct TorchArray {
    const char *test, *name;
    int rank;
    std::int64_t sizes[4];
    std::int64_t offset;
};
#include "torch_reference.inc"

bool has(std::string_view test, std::string_view name) {
    for (const TorchArray& array : torch_arrays) {
        if (array.test == test && array.name == name) return true;
    }
    return false;
}

Tensor<double> torch(std::string_view test, std::string_view name) {
    for (const TorchArray& array : torch_arrays) {
        if (array.test != test || array.name != name) continue;
        const Shape shape(std::span(array.sizes, static_cast<std::size_t>(array.rank)));
        return Tensor<double>(shape, std::span(torch_numbers + array.offset, static_cast<std::size_t>(shape.size())));
    }
    throw ValueError("torch_reference.inc has no " + std::string(name) + " of " + std::string(test));
}

// How many numbers are off by more than 1e-10 (double) or 1e-5 (float), relative to PyTorch's, or to 1 where that is
// less.
template <class T>
int wrong_numbers(const Tensor<T>& ours, const Tensor<double>& theirs) {
    const double tolerance = std::same_as<T, double> ? 1e-10 : 1e-5;
    BOOST_REQUIRE_EQUAL(to_string(ours.shape()), to_string(theirs.shape()));
    int wrong = 0;
    for (std::int64_t i = 0; i < ours.size(); ++i) {
        const double a = static_cast<double>(ours.data()[i]), b = theirs.data()[i];
        wrong += !(std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)));
    }
    return wrong;
}

template <class T>
void give_values(HasParameters<T>& tree, const char* test) {
    std::vector<T> theta;
    const Parameters<T> parameters(tree);
    for (const auto& entry : parameters.entries()) {
        const Tensor<double> value = torch(test, entry.name);
        BOOST_REQUIRE_EQUAL(to_string(entry.parameter->shape), to_string(value.shape()));
        for (const double x : value) theta.push_back(static_cast<T>(x));
    }
    unflatten(tree, std::span<const T>(theta));
}

// evaluate(pass, x) is compared with "y", and its gradients with "d.x", "d.weight" and so on.
template <class T, class Evaluate>
void compare(const char* test, const HasParameters<T>& tree, const Evaluate& evaluate) {
    Tape<T> tape;
    const Parameters<T> parameters(tree);
    Pass<T> pass(tape, parameters, {});
    const Var<T> x = tape.variable(cast<T>(torch(test, "x"))), y = evaluate(pass, x);
    tape.backward(y, has(test, "seed") ? cast<T>(torch(test, "seed")) : Tensor<T>::ones(y.shape()));
    BOOST_TEST(wrong_numbers(y.value(), torch(test, "y")) == 0, "outputs differ");
    if (has(test, "d.x")) BOOST_TEST(wrong_numbers(x.grad(), torch(test, "d.x")) == 0, "gradients of x differ");
    for (std::size_t k = 0; k < parameters.count(); ++k) {
        const std::string& name = parameters.entries()[k].name;
        BOOST_TEST(wrong_numbers(pass.leaves()[k].grad(), torch(test, "d." + name)) == 0,
                   "gradients of " << name << " differ");
    }
}

// make<T>() gives the module.
template <class Make>
void check(const char* test, const Make& make) {
    BOOST_TEST_CONTEXT(test) {
        const auto both = [&]<class T>() {
            auto module = make.template operator()<T>();
            give_values<T>(module, test);
            const Module<T>& layer = module;
            compare<T>(test, module, [&](Pass<T>& pass, Var<T> x) { return layer(pass, x); });
        };
        both.template operator()<float>();
        both.template operator()<double>();
    }
}

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
            compare<T>(test, likelihood, [&](Pass<T>& pass, Var<T> x) { return likelihood.log_prob(pass, x, batch); });
        };
        both.template operator()<float>();
        both.template operator()<double>();
    }
}

}  // namespace

BOOST_AUTO_TEST_CASE(dense) {
    check("dense", []<class T>() { return Dense<T>(4, 5); });
    check("dense_without_bias", []<class T>() { return Dense<T>(4, 2, {.bias = false}); });
}

BOOST_AUTO_TEST_CASE(convolutions) {
    check("conv2d", []<class T>() { return Conv2d<T>(2, 3, {3, 2}); });
    check("conv2d_stride_padding", []<class T>() { return Conv2d<T>(2, 2, 3, {.stride = {2, 1}, .padding = {1, 2}}); });
    check("conv2d_dilation", []<class T>() { return Conv2d<T>(1, 2, {2, 3}, {.dilation = {3, 2}, .bias = false}); });
    check("conv2d_groups", []<class T>() { return Conv2d<T>(4, 6, 3, {.padding = 1, .groups = 2}); });
}

BOOST_AUTO_TEST_CASE(transposed_convolutions) {
    check("conv_transpose2d", []<class T>() { return ConvTranspose2d<T>(2, 3, {2, 3}); });
    check("conv_transpose2d_stride", []<class T>() {
        return ConvTranspose2d<T>(2, 2, 3, {.stride = {2, 3}, .padding = {1, 0}, .output_padding = {1, 2}});
    });
    check("conv_transpose2d_groups",
          []<class T>() { return ConvTranspose2d<T>(4, 2, 2, {.dilation = 2, .groups = 2, .bias = false}); });
}

BOOST_AUTO_TEST_CASE(pooling) {
    check("max_pool2d", []<class T>() { return MaxPool2d<T>(2); });
    check("max_pool2d_stride", []<class T>() { return MaxPool2d<T>({3, 2}, {.stride = {2, 1}, .padding = 1}); });
    check("avg_pool2d", []<class T>() { return AvgPool2d<T>(2); });
    check("avg_pool2d_stride", []<class T>() { return AvgPool2d<T>({3, 2}, {.stride = {2, 1}, .padding = 1}); });
    check("flatten", []<class T>() { return Flatten<T>(); });
}

BOOST_AUTO_TEST_CASE(normalisation) {
    check("layer_norm", []<class T>() { return LayerNorm<T>(6); });
    check("layer_norm_images", []<class T>() { return LayerNorm<T>(3, 1e-3); });
    check("filter_response_norm", []<class T>() { return FilterResponseNorm<T>(3); });
}

BOOST_AUTO_TEST_CASE(embedding) {
    check("embedding", []<class T>() { return Embedding<T>(5, 4); });
}

BOOST_AUTO_TEST_CASE(activations) {
    check("relu", []<class T>() { return Relu<T>(); });
    check("leaky_relu", []<class T>() { return LeakyRelu<T>(); });
    check("leaky_relu_slope", []<class T>() { return LeakyRelu<T>(0.25); });
    check("elu", []<class T>() { return Elu<T>(); });
    check("elu_alpha", []<class T>() { return Elu<T>(1.5); });
    check("gelu", []<class T>() { return Gelu<T>(); });
    check("swish", []<class T>() { return Swish<T>(); });
    check("tanh", []<class T>() { return Tanh<T>(); });
    check("sigmoid", []<class T>() { return Sigmoid<T>(); });
    check("softplus", []<class T>() { return Softplus<T>(); });
    check("dropout", []<class T>() { return Dropout<T>(0.5); });
}

BOOST_AUTO_TEST_CASE(networks) {
    check("residual", []<class T>() { return Residual(Sequential(Dense<T>(4, 5), Tanh<T>(), Dense<T>(5, 4))); });
    check("residual_shortcut",
          []<class T>() { return Residual(Sequential(Dense<T>(4, 2), Relu<T>()), Dense<T>(4, 2, {.bias = false})); });
    check("network", []<class T>() {
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
