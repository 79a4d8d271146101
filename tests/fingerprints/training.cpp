#include "layer_fingerprint.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/module/save.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/module/walk.hpp>
#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/nn/priors.hpp>
#include <pollen/nn/pruning/sparse.hpp>
#include <pollen/nn/training/train.hpp>
#include <pollen/nn/variational/bayes.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

// Training runs, predictions and files of small networks. What a network computes for an item may not depend on the
// other items of the batch: predictions in batches of 1, 7, 64 and all are fingerprints of their own, and equal.
namespace pollen::test {

namespace {

template <Real T>
Dataset<T> images(std::int64_t n) {
    Dataset<T> data{.inputs = numbers<T>({n, 1, 12, 12}, 0, 1, 21), .labels = Indices::zeros({n})};
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int32_t label = static_cast<std::int32_t>(i * 7 % 4);
        data.labels.mutable_at(i) = label;
        for (std::int64_t k = 0; k < 36; ++k) data.inputs.mutable_data()[i * 144 + label * 36 + k] += T(1);
    }
    return data;
}

template <Real T>
Sequential<T> dense() {
    return Sequential<T>{Flatten<T>(), Dense<T>(144, 100), Relu<T>(), Dense<T>(100, 37), Tanh<T>(), Dense<T>(37, 4)};
}

template <Real T>
Sequential<T> convolutional() {
    return Sequential<T>{Conv2d<T>(1, 6, 3), Relu<T>(),    MaxPool2d<T>(2), Conv2d<T>(6, 10, 3),
                         Relu<T>(),          Flatten<T>(), Dropout<T>(0.2), Dense<T>(90, 4)};
}

template <Real T>
void add_network(Fingerprints& to, const std::string& name, const Module<T>& net) {
    Fingerprint f;
    each_parameter(net, [&](const std::string&, const auto& parameter) { f.add(parameter.value); });
    to.add(name, type_name<T>, f);
}

template <Real T>
void add_predictions(Fingerprints& to, const std::string& name, const Module<T>& net, const Tensor<T>& x) {
    for (const std::int64_t batch : {1, 7, 64, 1000}) {
        Fingerprint f;
        f.add(predict(net, x, {.batch = batch}));
        to.add(name + ", batches of " + std::to_string(batch), type_name<T>, f);
    }
}

template <Real T>
void add_runs(Fingerprints& to) {
    const Dataset<T> data = images<T>(150);
    Categorical<T> likelihood;
    const auto trained = [&](Sequential<T> net, const Optimiser& optimiser, const Prior& prior) {
        train(net, likelihood, data,
              {.epochs = 3, .batch = 32, .optimiser = optimiser, .seed = 5, .prior = prior, .show = Show::nothing});
        return net;
    };
    const Sequential<T> mlp = trained(dense<T>(), Adam{.rate = 0.003}, GaussianPrior{1});
    add_network(to, "train dense, Adam", mlp);
    add_predictions(to, "predict dense", mlp, data.inputs);
    const Sequential<T> cnn = trained(convolutional<T>(), Momentum{.rate = 0.02}, FlatPrior{});
    add_network(to, "train convolutional, momentum", cnn);
    add_predictions(to, "predict convolutional", cnn, data.inputs);
    const Sequential<T> twin = trained(bayesian(mlp, {.prior = ScaleMixturePrior{}, .posterior = mean_field<T>(0.02)}),
                                       Sgd{.rate = 0.01}, FlatPrior{});
    add_network(to, "train Bayes by Backprop", twin);
    Fingerprint samples;
    samples.add(predict_samples<T>(twin, data.inputs, {.samples = 3}).probabilities());
    to.add("predict Bayes by Backprop", type_name<T>, samples);

    // Rows share the random numbers of a key by the thousand.
    Sequential<T> net{Dense<T>(5, 8), Tanh<T>(), Dropout<T>(0.5), Dense<T>(8, 2), Dropout<T>(0.1)};
    initialise<T>(net, 4);
    const Tensor<T> x = numbers<T>({1500, 5}, -1, 1, 22);
    for (const std::int64_t batch : {7, 1000}) {
        Fingerprint dropped;
        dropped.add(predict(net, x, {.batch = batch, .mode = Mode::sample, .seed = 6, .draw = 1}));
        to.add("predict with dropout, batches of " + std::to_string(batch), type_name<T>, dropped);
    }

    const std::filesystem::path file = std::filesystem::temp_directory_path() / "pollen_fingerprint.safetensors";
    save(file, cnn);
    std::ostringstream bytes;
    bytes << std::ifstream(file, std::ios::binary).rdbuf();
    std::filesystem::remove(file);
    Fingerprint saved;
    saved.add(bytes.str());
    to.add("saved network", type_name<T>, saved);
}

// Sparse layers with a tenth of their weights.
template <Real T>
Tensor<T> sparse_weights(const Shape& shape, std::uint64_t seed) {
    Tensor<T> w = numbers<T>(shape, -1, 1, seed);
    for (std::int64_t i = 0; i < w.size(); ++i)
        if (i * 31 % 10 != 3) w.mutable_data()[i] = 0;
    return w;
}

template <Real T>
void add_sparse(Fingerprints& to) {
    const SparseDense<T> dense(sparse_weights<T>({70, 90}, 1), numbers<T>({70}, -1, 1, 2));
    for (const std::int64_t n : {1, 5, 33, 100}) add_layer<T>(to, "SparseDense", dense, numbers<T>({n, 90}, -1, 1, 3));
    add_predictions<T>(to, "predict sparse", dense, numbers<T>({100, 90}, -1, 1, 4));
    Conv2d<T> conv(3, 8, 3);
    conv.weight.value = sparse_weights<T>({8, 3, 3, 3}, 4);
    conv.bias.value = numbers<T>({8}, -1, 1, 5);
    const SparseConv2d<T> sparse(conv.weight.value, conv.bias.value);
    for (const std::int64_t n : {1, 5}) add_layer<T>(to, "SparseConv2d", sparse, numbers<T>({n, 3, 9, 11}, -1, 1, 6));
}

}  // namespace

void add_training(Fingerprints& to) {
    add_runs<float>(to);
    add_runs<double>(to);
    add_sparse<float>(to);
    add_sparse<double>(to);
}

}  // namespace pollen::test
