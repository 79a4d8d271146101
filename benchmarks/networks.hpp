#pragma once

#include <pollen/data/sets/dataset.hpp>
#include <pollen/nn/layers.hpp>

// The networks and the made-up data of the rows that PyTorch has, too.
namespace pollen::bench {

constexpr std::int64_t batch_size = 128;

inline Dataset<float> random_images(std::int64_t n, std::int64_t channels = 1, std::int64_t side = 28) {
    Dataset<float> data{.inputs = Tensor<float>::empty({n, channels, side, side}), .labels = Indices::zeros({n})};
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

// 32 x 32 pixels in three colours.
inline Sequential<float> vgg() {
    Sequential<float> net;
    const auto conv = [&](std::int64_t inputs, std::int64_t outputs) {
        net.add(Conv2d(inputs, outputs, 3, {.padding = 1})).add(Relu());
    };
    conv(3, 64);
    conv(64, 64);
    net.add(MaxPool2d(2));
    conv(64, 128);
    conv(128, 128);
    net.add(MaxPool2d(2));
    conv(128, 256);
    return net.add(MaxPool2d(2)).add(Flatten()).add(Dense(4096, 10));
}

// ResNet-20 for the same images, each norm within an image (Izmailov et al. 2021).
inline Sequential<float> resnet20() {
    const auto block = [](std::int64_t inputs, std::int64_t outputs) {
        const std::int64_t stride = inputs == outputs ? 1 : 2;
        Sequential body{Conv2d(inputs, outputs, 3, {.stride = stride, .padding = 1}), FilterResponseNorm(outputs),
                        Swish(), Conv2d(outputs, outputs, 3, {.padding = 1}), FilterResponseNorm(outputs)};
        if (stride == 1) return Residual(std::move(body));
        return Residual(std::move(body), Conv2d(inputs, outputs, 1, {.stride = stride}));
    };
    Sequential net{Conv2d(3, 16, 3, {.padding = 1}), FilterResponseNorm(16), Swish()};
    std::int64_t inputs = 16;
    for (const std::int64_t outputs : {16, 16, 16, 32, 32, 32, 64, 64, 64}) {
        net.add(block(inputs, outputs)).add(Swish());
        inputs = outputs;
    }
    return net.add(AvgPool2d(8)).add(Flatten()).add(Dense(64, 10));
}

// Depthwise convolutions and 1 x 1 convolutions in turn, as in MobileNet, for the same images.
inline Sequential<float> mobile() {
    Sequential<float> net{Conv2d(3, 32, 3, {.padding = 1}), Relu()};
    std::int64_t inputs = 32;
    for (const std::int64_t outputs : {64, 128, 128, 256, 256}) {
        const std::int64_t stride = inputs < outputs && inputs > 32 ? 2 : 1;
        net.add(Conv2d(inputs, inputs, 3, {.stride = stride, .padding = 1, .groups = inputs})).add(Relu());
        net.add(Conv2d(inputs, outputs, 1)).add(Relu());
        inputs = outputs;
    }
    return net.add(AvgPool2d(8)).add(Flatten()).add(Dense(256, 10));
}

}  // namespace pollen::bench
