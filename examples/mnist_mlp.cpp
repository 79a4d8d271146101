// A dense network learns handwritten digits.
//
//     ./run example mnist_mlp            5,000 digits that come with pollen: some five seconds
//     ./run data mnist                   fetches all 70,000; from then on the example uses them: about a minute
//
// Ctrl-C stops it; the same command goes on from there (--new starts again).
//
// Expected output, on the full set: test accuracy at least 98.3 %. On the small one: at least 93.5 %.
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
constexpr double dropout_rate = 0.3;

int main(int argc, char** argv) {
    Example example("A dense network learns handwritten digits.", "one minute (all of MNIST; else five seconds)");
    std::int64_t hidden = 800, epochs = 20;
    example.option("--hidden", hidden, 200, "units in each of two hidden layers", 1);
    example.option("--epochs", epochs, 10, "passes through the digits", 1);
    return example.run(argc, argv, [&] {
        const std::string directory = example.quick ? embedded_data("mnist") : data_directory("mnist");
        const Dataset<float> train_data = read_image_set<float>(directory, "train");
        const Dataset<float> test_data = read_image_set<float>(directory, "test");
        example.data(directory, train_data.size());
        std::printf("%lld digits to learn from, %lld to be tested on\n\n", static_cast<long long>(train_data.size()),
                    static_cast<long long>(test_data.size()));

        Sequential net{Flatten(), Dense(784, hidden),    Relu(),           Dropout(dropout_rate), Dense(hidden, hidden),
                       Relu(),    Dropout(dropout_rate), Dense(hidden, 10)};
        std::printf("%s\n", summary(net, {1, 28, 28}).c_str());

        Categorical likelihood;
        const std::int64_t steps = epochs * ((train_data.size() + batch - 1) / batch);
        unless_stopped(train(net, likelihood, train_data,
                             {.epochs = epochs,
                              .batch = batch,
                              .optimiser = Adam{.rate = Schedule::cosine(learning_rate, steps)},
                              .seed = example.seed,
                              .checkpoint = example.kept("run") / "checkpoint.safetensors",
                              .resume = true}));

        const Evaluation test = evaluate(net, likelihood, test_data);
        const double items = static_cast<double>(test_data.size());
        ResultTable table({"", "test accuracy, %", "-log p"});
        table.row({"dense network",
                   {100 * test.score, 100 * std::sqrt(test.score * (1 - test.score) / items), 2},
                   {test.loss, 4}});
        table.show();
        table.save(example.path("mnist_mlp"));
    });
}
