#include "problem.hpp"

#include <pollen/data/sets/embedded.hpp>
#include <pollen/data/sets/image_set.hpp>
#include <pollen/nn/likelihoods.hpp>

#include <cmath>

using namespace pollen;

namespace {

bool is_residual(const std::string& network) {
    if (network != "dense" && network != "residual")
        throw ValueError("--network is " + network + "; it takes dense or residual");
    return network == "residual";
}

// Means of 4 x 4 or 2 x 2 of the 28 x 28 pixels, of about -1/2 to 3.
Dataset<float> small_images(bool residual, const std::string& set, const std::string& part) {
    Dataset<float> data = read_image_set<float>(embedded_data(set), part);
    data.inputs = predict(Sequential<float>{AvgPool2d(residual ? 2 : 4)}, data.inputs);
    if (!residual) data.inputs = predict(Sequential<float>{Flatten()}, data.inputs);
    for (float& x : data.inputs.mutable_values()) x = 4 * x - 0.5f;
    return data;
}

// A convolution, a residual block and a dense layer, with filter response normalisation and Swish (Izmailov et al.
// 2021; ResNet-20 has nine blocks). 14 x 14 pixels become 8 channels of 12 x 12, then of 6 x 6, then of 3 x 3.
Sequential<float> residual_network() {
    constexpr std::int64_t channels = 8;
    const ConvOptions same_size{.padding = 1};
    const Sequential block{Conv2d(channels, channels, 3, same_size), FilterResponseNorm(channels), Swish(),
                           Conv2d(channels, channels, 3, same_size), FilterResponseNorm(channels)};
    return Sequential{Conv2d(1, channels, 3),
                      FilterResponseNorm(channels),
                      Swish(),
                      AvgPool2d(2),
                      Residual(block),
                      Swish(),
                      AvgPool2d(2),
                      Flatten(),
                      Dense(9 * channels, 10)};
}

Sequential<float> dense_network(std::int64_t hidden) {
    return Sequential{Dense(49, hidden), Tanh(), Dense(hidden, 10)};
}

}  // namespace

Problem::Problem(const std::string& network, std::int64_t digits, std::int64_t hidden, std::uint64_t random_seed)
    : seed(random_seed),
      residual(is_residual(network)),
      prior_sd(residual ? std::sqrt(0.2) : 1),
      train_data(small_images(residual, "mnist", "train").slice(0, digits)),
      test_data(small_images(residual, "mnist", "test")),
      clothes(small_images(residual, "fashion-mnist", "test")),
      net(residual ? residual_network() : dense_network(hidden)),
      potential(net, Categorical<float>(), train_data, {.prior = GaussianPrior{.sd = prior_sd}}) {}
