// A convolutional network learns handwritten digits, shifted a little at random.
//
//     ./run example mnist_cnn            5,000 digits that come with pollen: some ten seconds
//     ./run data mnist                   fetches all 70,000; from then on the example uses them: some three minutes
//
// Ctrl-C stops it; the same command goes on from there (--new starts again).
//
// Expected output, on the full set: test accuracy at least 99.2 %. On the small one: at least 96.5 %.
#include "example.hpp"

#include <pollen/pollen.hpp>

#include <cstdio>
#include <string>

using namespace pollen;

constexpr std::int64_t epochs = 12;
constexpr std::int64_t batch = 128;
constexpr double learning_rate = 1e-3;
constexpr std::uint64_t seed = 1;
const std::string checkpoint = "mnist_cnn.safetensors";

int run(const Arguments& arguments) {
    const bool quick = arguments.quick;
    const std::string directory = quick ? embedded_data("mnist") : data_directory("mnist");
    const Dataset<float> all = read_image_set<float>(directory, "train");
    const Dataset<float> train_data = quick ? all.slice(0, 1000) : all;
    const Dataset<float> test_data = read_image_set<float>(directory, "test");
    std::printf("%lld digits to learn from, %lld to be tested on\n\n", static_cast<long long>(train_data.size()),
                static_cast<long long>(test_data.size()));

    Sequential net{Conv2d(1, 32, 5), Relu(),           MaxPool2d(2), Conv2d(32, 64, 5), Relu(),        MaxPool2d(2),
                   Flatten(),        Dense(1024, 256), Relu(),       Dropout(0.5),      Dense(256, 10)};
    std::printf("%s\n", summary(net, {1, 28, 28}).c_str());

    Categorical likelihood;
    const std::int64_t steps = epochs * ((train_data.size() + batch - 1) / batch);
    const TrainResult result = train(net, likelihood, train_data,
                                     {.epochs = quick ? 1 : epochs,
                                      .batch = batch,
                                      .optimiser = Adam{.rate = Schedule::cosine(learning_rate, steps)},
                                      .seed = seed,
                                      .augmentation = {.shift = 2},
                                      .checkpoint = quick ? "" : checkpoint,
                                      .resume = !quick && !arguments.fresh});
    if (result.end == TrainResult::End::interrupted) {
        std::printf("The same command, in this directory, goes on from there; with --new it starts again.\n");
        return 1;
    }
    std::remove(checkpoint.c_str());

    const Evaluation test = evaluate(net, likelihood, test_data);
    std::printf("test accuracy %.2f %%, mean -log p %.4f\n", 100 * test.score, test.loss);
    return 0;
}

int main(int argc, char** argv) { return run_example(argc, argv, run); }
