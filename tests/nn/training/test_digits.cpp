#include "../../support.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/data/sets/embedded.hpp>
#include <pollen/data/sets/image_set.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/training/train.hpp>

#include <iomanip>

using namespace pollen;
using namespace pollen::test;

// Real networks on real data: the 5,000 + 1,000 digits that come with pollen.
BOOST_AUTO_TEST_SUITE(digits)

namespace {

Sequential<float> mlp() {
    return Sequential{Flatten(), Dense(784, 200), Relu(), Dense(200, 200), Relu(), Dense(200, 10)};
}

Sequential<float> cnn() {
    return Sequential{Conv2d(1, 16, 5), Relu(),         MaxPool2d(2), Conv2d(16, 32, 5), Relu(), MaxPool2d(2),
                      Flatten(),        Dense(512, 64), Relu(),       Dense(64, 10)};
}

struct Outcome {
    std::vector<double> first_losses;
    double accuracy;
};

Outcome learn(Sequential<float> net, std::int64_t epochs) {
    const Dataset<float> data = read_image_set<float>(embedded_data("mnist"), "train");
    const Dataset<float> test_data = read_image_set<float>(embedded_data("mnist"), "test");
    Categorical likelihood;
    Outcome outcome{};
    pollen::train(net, likelihood, data,
                  {.epochs = epochs,
                   .batch = 64,
                   .optimiser = Adam{.rate = Schedule::cosine(0.002, epochs * 79)},
                   .seed = 1,
                   .show = Show::nothing,
                   .on_step = [&](const StepRecord& now) {
                       if (now.step <= 3) outcome.first_losses.push_back(now.loss);
                       return true;
                   }});
    outcome.accuracy = evaluate(net, likelihood, test_data).score;
    return outcome;
}

// The expected losses are PyTorch's, from the same first values and batches. Five digits: CPUs with wider registers add
// up in another order.
void check_losses(const Outcome& outcome, const std::vector<double>& expected) {
    BOOST_TEST_REQUIRE(outcome.first_losses.size() == expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k)
        BOOST_TEST(std::abs(outcome.first_losses[k] - expected[k]) < 1e-5 * expected[k],
                   "step " << k + 1 << ": " << std::setprecision(9) << outcome.first_losses[k]);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_dense_network) {
    const Outcome outcome = learn(mlp(), 5);
    check_losses(outcome, {2.38020062, 2.04731059, 1.90894282});
    BOOST_TEST(outcome.accuracy >= 0.935);
}

BOOST_AUTO_TEST_CASE(a_convolutional_network) {
    const Outcome outcome = learn(cnn(), 10);
    check_losses(outcome, {2.44679499, 2.17727256, 2.1826241});
    BOOST_TEST(outcome.accuracy >= 0.965);
}

BOOST_AUTO_TEST_CASE(the_same_bits_on_one_and_on_many_threads) {
    const Dataset<float> data = read_image_set<float>(embedded_data("mnist"), "train").slice(0, 256);
    Tensor<float> first;
    for (const int threads : {1, 2, 8})
        with_threads(threads, [&] {
            Sequential<float> net = cnn();
            Categorical likelihood;
            pollen::train(net, likelihood, data, {.epochs = 1, .batch = 64, .seed = 1, .show = Show::nothing});
            const Tensor<float> theta = Parameters<float>(net).flatten();
            if (threads == 1) first = theta;
            BOOST_TEST((theta == first));
        });
}

BOOST_AUTO_TEST_SUITE_END()
