#include "layer_fingerprint.hpp"

#include <pollen/nn/layers.hpp>
#include <pollen/nn/module/walk.hpp>

// Layers that are made of several ops.
namespace pollen::test {

namespace {

// With parameters that are uniform between -1 and 1; running variances lie between 0 and 1.
template <Real T, class L>
L filled(L layer) {
    std::uint64_t seed = 1;
    each_parameter(layer, [&](const std::string& name, Parameter<T>& p) {
        p.value = numbers<T>(p.shape, name == "running_variance" ? 0 : -1, 1, seed++);
    });
    return layer;
}

template <Real T>
void add_new_layer(Fingerprints& to, const char* name, const Module<T>& layer, const Shape& x,
                   Mode mode = Mode::predict) {
    add_layer<T>(to, name, layer, numbers<T>(x, -1, 1, 6), mode);
}

template <Real T>
void add_all_layers(Fingerprints& to) {
    for (const std::int64_t n : {1, 5, 33}) {
        const auto conv = filled<T>(Conv1d<T>(6, 8, 5, {.stride = 2, .padding = 2, .groups = 2}));
        add_new_layer<T>(to, "Conv1d", conv, {n, 6, 41});
        const auto depthwise = filled<T>(DepthwiseConv2d<T>(6, 3, {.multiplier = 2, .padding = 1}));
        add_new_layer<T>(to, "DepthwiseConv2d", depthwise, {n, 6, 9, 11});
        add_new_layer<T>(to, "MaxPool1d", MaxPool1d<T>(3, {.stride = 2, .padding = 1}), {n, 3, 20});
        add_new_layer<T>(to, "AvgPool1d", AvgPool1d<T>(3, {.stride = 2, .padding = 1}), {n, 3, 20});
        add_new_layer<T>(to, "GlobalAvgPool", GlobalAvgPool<T>(), {n, 3, 9, 11});
        add_new_layer<T>(to, "GlobalAvgPool", GlobalAvgPool<T>(PoolOver::steps), {n, 40, 7});
        add_new_layer<T>(to, "GlobalMaxPool", GlobalMaxPool<T>(), {n, 3, 9, 11});
        add_new_layer<T>(to, "GlobalMaxPool", GlobalMaxPool<T>(PoolOver::steps), {n, 40, 7});
        for (const std::int64_t hidden : {1, 7, 64, 129}) {
            add_new_layer<T>(to, "Gru", filled<T>(Gru<T>(5, hidden)), {n, 6, 5});
            add_new_layer<T>(to, "Lstm", filled<T>(Lstm<T>(5, hidden, {.output = Steps::last})), {n, 6, 5});
        }
        for (const bool causal : {false, true}) {
            const auto attention = filled<T>(MultiHeadAttention<T>(12, 3, {.causal = causal, .dropout = 0.25}));
            for (const Mode mode : {Mode::predict, Mode::train})
                add_new_layer<T>(to, "MultiHeadAttention", attention, {n, 19, 12}, mode);
        }
        const auto norm = filled<T>(BatchNorm<T>(6));
        for (const Mode mode : {Mode::predict, Mode::train})
            add_new_layer<T>(to, "BatchNorm", norm, {n, 6, 9, 11}, mode);
    }
}

}  // namespace

void add_layers(Fingerprints& to) {
    add_all_layers<float>(to);
    add_all_layers<double>(to);
}

}  // namespace pollen::test
