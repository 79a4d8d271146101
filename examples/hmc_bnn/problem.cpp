#include "problem.hpp"

#include <pollen/data/sets/embedded.hpp>
#include <pollen/data/sets/image_set.hpp>
#include <pollen/nn/likelihoods.hpp>

using namespace pollen;

// 28 x 28 pixels become 7 x 7 means, of about -1/2 to 3.
static Dataset<float> small_images(const std::string& set, const std::string& part) {
    Dataset<float> data = read_image_set<float>(embedded_data(set), part);
    const Sequential<float> pool{AvgPool2d(4), Flatten()};
    data.inputs = predict(pool, data.inputs);
    for (float& x : data.inputs.mutable_values()) x = 4 * x - 0.5f;
    return data;
}

Problem::Problem(std::int64_t digits, std::int64_t hidden, std::uint64_t random_seed)
    : seed(random_seed),
      train_data(small_images("mnist", "train").slice(0, digits)),
      test_data(small_images("mnist", "test")),
      clothes(small_images("fashion-mnist", "test")),
      net{Dense(49, hidden), Tanh(), Dense(hidden, 10)},
      potential(net, Categorical<float>(), train_data, {.prior = GaussianPrior{.sd = prior_sd}}) {}
