// A convolutional network learns handwritten digits, shifted a little at random.
//
//     ./run example mnist_cnn            5,000 digits that come with pollen: some ten seconds
//     ./run data mnist                   fetches all 70,000; from then on the example uses them: some three minutes
//
// Ctrl-C stops it; the same command goes on from there (--new starts again).
//
// Expected output, on the full set: test accuracy at least 99.2 %. On the small one: at least 96.5 %.
#include "common/example.hpp"
#include "common/table.hpp"

#include <pollen/data/sets/embedded.hpp>
#include <pollen/data/sets/image_set.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/module/sequential.hpp>
#include <pollen/nn/training/train.hpp>

#include <cmath>
#include <cstdio>

using namespace pollen;

constexpr std::int64_t batch = 128;
constexpr double learning_rate = 1e-3;

int main(int argc, char** argv) {
    Example example("A convolutional network learns handwritten digits.",
                    "three minutes (all of MNIST; else ten seconds)");
    std::int64_t epochs = 12;
    example.option("--epochs", epochs, 1, "passes through the digits", 1);
    return example.run(argc, argv, [&] {
        const std::string directory = example.quick ? embedded_data("mnist") : data_directory("mnist");
        const Dataset<float> train_data = read_image_set<float>(directory, "train");
        const Dataset<float> test_data = read_image_set<float>(directory, "test");
        example.data(directory, train_data.size());
        std::printf("%lld digits to learn from, %lld to be tested on\n\n", static_cast<long long>(train_data.size()),
                    static_cast<long long>(test_data.size()));

        Sequential net{Conv2d(1, 32, 5), Relu(),           MaxPool2d(2), Conv2d(32, 64, 5), Relu(),        MaxPool2d(2),
                       Flatten(),        Dense(1024, 256), Relu(),       Dropout(0.5),      Dense(256, 10)};
        std::printf("%s\n", summary(net, {1, 28, 28}).c_str());

        Categorical likelihood;
        const std::int64_t steps = epochs * ((train_data.size() + batch - 1) / batch);
        unless_stopped(train(net, likelihood, train_data,
                             {.epochs = epochs,
                              .batch = batch,
                              .optimiser = Adam{.rate = Schedule::cosine(learning_rate, steps)},
                              .seed = example.seed,
                              .augmentation = {.shift = 2},
                              .checkpoint = example.kept("run") / "checkpoint.safetensors",
                              .resume = true}));

        const Evaluation test = evaluate(net, likelihood, test_data);
        const double items = static_cast<double>(test_data.size());
        ResultTable table({"", "test accuracy, %", "-log p"});
        table.row({"convolutional network",
                   {100 * test.score, 100 * std::sqrt(test.score * (1 - test.score) / items), 2},
                   {test.loss, 4}});
        table.show();
        table.save(example.path("mnist_cnn"));
    });
}
