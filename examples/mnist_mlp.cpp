// A dense network learns handwritten digits.
//
//     ./run example mnist_mlp            5,000 digits that come with pollen: some five seconds
//     ./run data mnist                   fetches all 70,000; from then on the example uses them: about a minute
//
// Expected output, on the full set: test accuracy at least 98.3 %. On the small one: at least 93.5 %.
#include "example.hpp"

#include <pollen/pollen.hpp>

#include <cstdio>

using namespace pollen;

constexpr std::int64_t hidden = 800;
constexpr std::int64_t epochs = 20;
constexpr double learning_rate = 1e-3;
constexpr double dropout_rate = 0.3;
constexpr std::uint64_t seed = 1;

int run(const Arguments& arguments) {
    const bool quick = arguments.quick;
    const std::string directory = quick ? embedded_data("mnist") : data_directory("mnist");
    const Dataset<float> train_data = read_image_set<float>(directory, "train");
    const Dataset<float> test_data = read_image_set<float>(directory, "test");
    std::printf("%lld digits to learn from, %lld to be tested on\n\n", static_cast<long long>(train_data.size()),
                static_cast<long long>(test_data.size()));

    Sequential net{Flatten(), Dense(784, hidden),    Relu(),           Dropout(dropout_rate), Dense(hidden, hidden),
                   Relu(),    Dropout(dropout_rate), Dense(hidden, 10)};
    std::printf("%s\n", summary(net, {1, 28, 28}).c_str());

    Categorical likelihood;
    const std::int64_t steps_per_epoch = (train_data.size() + 127) / 128;
    const TrainResult result =
        train(net, likelihood, train_data,
              {.epochs = quick ? 1 : epochs,
               .batch = 128,
               .optimiser = Adam{.rate = Schedule::cosine(learning_rate, epochs * steps_per_epoch)},
               .seed = seed});

    if (result.end == TrainResult::End::interrupted) return 1;
    const Evaluation test = evaluate(net, likelihood, test_data);
    std::printf("test accuracy %.2f %%, mean -log p %.4f\n", 100 * test.score, test.loss);
    return 0;
}

int main(int argc, char** argv) { return run_example(argc, argv, run); }
