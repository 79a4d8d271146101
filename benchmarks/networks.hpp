#pragma once

#include <pollen/data/sets/dataset.hpp>
#include <pollen/nn/layers.hpp>

// The networks and the made-up digits of the rows that PyTorch has, too.
namespace pollen::bench {

constexpr std::int64_t batch_size = 128;

inline Dataset<float> random_images(std::int64_t n) {
    Dataset<float> data{.inputs = Tensor<float>::empty({n, 1, 28, 28}), .labels = Indices::zeros({n})};
    Random random(1);
    random.fill_uniform(data.inputs.mutable_values());
    for (std::int32_t& label : data.labels.mutable_values()) label = static_cast<std::int32_t>(random.below(10));
    return data;
}

inline Sequential<float> mlp(std::int64_t hidden) {
    return Sequential{Flatten(), Dense(784, hidden), Relu(), Dense(hidden, hidden), Relu(), Dense(hidden, 10)};
}

inline Sequential<float> lenet() {
    return Sequential{Conv2d(1, 32, 5), Relu(),           MaxPool2d(2), Conv2d(32, 64, 5), Relu(), MaxPool2d(2),
                      Flatten(),        Dense(1024, 256), Relu(),       Dense(256, 10)};
}

}  // namespace pollen::bench
