#include "problem.hpp"

#include <pollen/data/sets/embedded.hpp>
#include <pollen/data/sets/image_set.hpp>
#include <pollen/nn/likelihoods.hpp>

#include <cmath>

using namespace pollen;

namespace {

bool is_convolutional(const std::string& network) {
    if (network != "dense" && network != "convolutional")
        throw ValueError("--network is " + network + "; it takes dense or convolutional");
    return network == "convolutional";
}

// Means of 4 x 4 or 2 x 2 of the 28 x 28 pixels, of about -1/2 to 3.
Dataset<float> small_images(bool convolutional, const std::string& set, const std::string& part) {
    Dataset<float> data = read_image_set<float>(embedded_data(set), part);
    data.inputs = predict(Sequential<float>{AvgPool2d(convolutional ? 2 : 4)}, data.inputs);
    if (!convolutional) data.inputs = predict(Sequential<float>{Flatten()}, data.inputs);
    for (float& x : data.inputs.mutable_values()) x = 4 * x - 0.5f;
    return data;
}

// 14 x 14 pixels become 16 channels of 12 x 12, then of 6 x 6; then 32 channels of 4 x 4, then of 2 x 2.
Sequential<float> convolutional_network() {
    return Sequential{Conv2d(1, 16, 3),  FilterResponseNorm(16), Swish(), AvgPool2d(2),
                      Conv2d(16, 32, 3), FilterResponseNorm(32), Swish(), AvgPool2d(2),
                      Flatten(),         Dense(128, 10)};
}

Sequential<float> dense_network(std::int64_t hidden) {
    return Sequential{Dense(49, hidden), Tanh(), Dense(hidden, 10)};
}

}  // namespace

Problem::Problem(const std::string& network, std::int64_t digits, std::int64_t hidden, std::uint64_t random_seed)
    : seed(random_seed),
      convolutional(is_convolutional(network)),
      prior_sd(convolutional ? std::sqrt(0.2) : 1),
      train_data(small_images(convolutional, "mnist", "train").slice(0, digits)),
      test_data(small_images(convolutional, "mnist", "test")),
      clothes(small_images(convolutional, "fashion-mnist", "test")),
      net(convolutional ? convolutional_network() : dense_network(hidden)),
      potential(net, Categorical<float>(), train_data, {.prior = GaussianPrior{.sd = prior_sd}}) {}
