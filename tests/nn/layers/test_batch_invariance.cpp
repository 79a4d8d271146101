#include "../../support.hpp"

#include <pollen/autograd/rows.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/module/residual.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/pruning/sparse.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <cstring>

using namespace pollen;
using namespace pollen::test;

// What a network computes for an item does not depend on the other items of the batch, nor on how many there are: the
// bits are the same alone, in batches of 3, of 16, of 50 and in one of all.
BOOST_AUTO_TEST_SUITE(batch_invariance)

namespace {

template <class T>
bool same_bits(const Tensor<T>& a, const Tensor<T>& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0;
}

template <class T>
bool invariant(const Module<T>& net, const Tensor<T>& x, PredictOptions options = {}) {
    options.batch = x.shape()[0];
    const Tensor<T> whole = predict(net, x, options);
    for (const std::int64_t batch : {1, 3, 16, 50}) {
        options.batch = batch;
        if (!same_bits(predict(net, x, options), whole)) return false;
    }
    return true;
}

// Normal numbers for all parameters.
template <class T>
void fill(Module<T>& net) {
    initialise(net, 5);
    Random random(5);
    each_parameter(net, [&](const std::string&, auto& p) {
        for (T& x : p.value.mutable_values()) x = random.normal<T>();
    });
}

template <class T, class Net>
void check(Net net, const Shape& x) {
    fill<T>(net);
    BOOST_TEST(invariant<T>(net, cast<T>(normals(x))), net.describe() << " of x " << to_string(x));
}

// Its inputs are the numbers of rows.
template <class T>
void check_embedding(Embedding<T> layer) {
    fill<T>(layer);
    Tensor<T> x = Tensor<T>::empty({101, 3});
    for (std::int64_t i = 0; i < x.size(); ++i) x.fresh_data()[i] = static_cast<T>(i * i % 10);
    BOOST_TEST(invariant<T>(layer, x), layer.describe());
}

// With running statistics.
template <class T>
void check_batch_norm(const Shape& x) {
    BatchNorm<T> layer(x[1]);
    fill<T>(layer);
    for (T& v : layer.running_variance.value.mutable_values()) v = v * v;
    BOOST_TEST(invariant<T>(layer, cast<T>(normals(x))), "BatchNorm of x " << to_string(x));
    BOOST_TEST(invariant<T>(layer, cast<T>(normals(x)), {.mode = Mode::sample}));
}

template <class T>
void check_layers() {
    for (const std::int64_t inputs : {1, 5, 40, 300, 700})
        for (const std::int64_t outputs : {1, 7, 33, 260}) check<T>(Dense<T>(inputs, outputs), {101, inputs});
    check<T>(Conv2d<T>(1, 32, 5), {53, 1, 12, 12});
    check<T>(Conv2d<T>(16, 24, 3, {.padding = 1}), {53, 16, 6, 7});
    // In float by Winograd's algorithm.
    check<T>(Conv2d<T>(16, 24, 3, {.padding = 1}), {53, 16, 8, 8});
    check<T>(Conv2d<T>(16, 17, 5), {53, 16, 12, 12});
    check<T>(Conv2d<T>(12, 24, 3, {.stride = 2, .groups = 4}), {53, 12, 9, 9});
    check<T>(Conv2d<T>(12, 12, 3, {.padding = 1, .groups = 12}), {53, 12, 6, 7});
    check<T>(Conv2d<T>(40, 3, 3), {53, 40, 4, 4});
    check<T>(ConvTranspose2d<T>(6, 10, 4, {}), {53, 6, 5, 7});
    check<T>(ConvTranspose2d<T>(6, 4, 3, {.stride = 2}), {53, 6, 9, 9});
    check<T>(MaxPool2d<T>(2), {53, 3, 8, 8});
    check<T>(AvgPool2d<T>(2), {53, 3, 8, 8});
    check<T>(DepthwiseConv2d<T>(12, 5, {.multiplier = 2, .stride = 2}), {53, 12, 9, 9});
    check<T>(Conv1d<T>(16, 24, 3, {.padding = 1}), {53, 16, 21});
    check<T>(Conv1d<T>(12, 12, 5, {.stride = 2, .groups = 12}), {53, 12, 40});
    check<T>(MaxPool1d<T>(2), {53, 3, 9});
    check<T>(AvgPool1d<T>(3, {.padding = 1}), {53, 3, 9});
    check<T>(GlobalAvgPool<T>(), {53, 3, 19, 17});
    check<T>(GlobalAvgPool<T>(), {53, 1, 140, 140});
    check<T>(GlobalMaxPool<T>(), {53, 3, 19, 17});
    for (const std::int64_t features : {1, 5, 40}) {
        check<T>(GlobalAvgPool<T>(PoolOver::steps), {53, 37, features});
        check<T>(GlobalMaxPool<T>(PoolOver::steps), {53, 37, features});
    }
    check<T>(LayerNorm<T>(37), {101, 37});
    check<T>(LayerNorm<T>(300), {101, 300});
    check<T>(FilterResponseNorm<T>(6), {53, 6, 9, 5});
    for (const std::int64_t hidden : {1, 7, 40, 128}) {
        check<T>(Gru<T>(5, hidden), {53, 9, 5});
        check<T>(Lstm<T>(5, hidden, {.output = Steps::last}), {53, 9, 5});
    }
    check<T>(MultiHeadAttention<T>(12, 3), {53, 7, 12});
    check<T>(MultiHeadAttention<T>(64, 1, {.causal = true}), {53, 70, 64});
    check_batch_norm<T>({101, 6});
    check_batch_norm<T>({53, 6, 9, 5});
    check<T>(Softplus<T>(), {101, 3});
    check<T>(Gelu<T>(), {101, 3});
    check_embedding<T>(Embedding<T>(10, 7));
    check<T>(Sequential<T>{Flatten<T>(), Dense<T>(64, 50), Relu<T>(), Residual<T>(Dense<T>(50, 50)), Dense<T>(50, 3)},
             {101, 1, 8, 8});
}

template <class T>
void check_sparse() {
    Tensor<double> w = normals({70, 90}), k = normals({8, 3, 3, 3});
    for (Tensor<double>* weights : {&w, &k})
        for (std::int64_t i = 0; i < weights->size(); ++i)
            if (i * 31 % 10 != 3) weights->mutable_data()[i] = 0;
    const SparseDense<T> dense(cast<T>(w), cast<T>(normals({70}, 2)));
    BOOST_TEST(invariant<T>(dense, cast<T>(normals({101, 90}))));
    const SparseConv2d<T> conv(cast<T>(k), cast<T>(normals({8}, 2)));
    BOOST_TEST(invariant<T>(conv, cast<T>(normals({53, 3, 9, 8}))));
}

// Looks at the other items.
struct Centre final : Layer<Centre, float> {
    Var<float> forward(Pass<float>&, Var<float> x) const override { return x - mean(x, 0, true); }
    static void members(auto&, auto&) {}
    std::string describe() const override { return "Centre"; }
};

}  // namespace

BOOST_AUTO_TEST_CASE(layers) {
    check_layers<float>();
    check_layers<double>();
}

BOOST_AUTO_TEST_CASE(sparse_layers) {
    check_sparse<float>();
    check_sparse<double>();
}

BOOST_AUTO_TEST_CASE(draws_of_the_weights) {
    Sequential<float> net{Dense<float>(40, 33), Relu<float>(), Dense<float>(33, 3)};
    fill<float>(net);
    const Sequential<float> twin = bayesian(net, {.posterior = mean_field<float>(0.1)});
    BOOST_TEST(invariant<float>(twin, cast<float>(normals({101, 40})), {.mode = Mode::sample, .seed = 3}));
}

BOOST_AUTO_TEST_CASE(a_layer_that_is_not_invariant) {
    BOOST_TEST(!invariant<float>(Centre(), cast<float>(normals({101, 4}))));
}

BOOST_AUTO_TEST_SUITE_END()
