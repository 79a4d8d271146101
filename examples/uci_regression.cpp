// Regression on any table: a network with one hidden layer that predicts a number, with the noise learned.
//
//     ./run example uci_regression FILE --target NAME     predicts the column NAME; the last one unless it is given
//     ./run example uci_regression                        makes a table of its own (Friedman 1991, Eq. 61)
//
// FILE is a CSV file, or a table separated by blanks, plain or gzipped, all its columns numbers: the UCI regression
// sets, for example. Twenty random splits into 90 % training and 10 % test data, as the literature does; inputs and
// target are standardised on the training part alone.
//
// Expected output: root mean squared error and log-likelihood on the test data, mean and standard error over the
// splits; for the table made here about 1.22 +- 0.02 and -1.82 +- 0.04, where the noise alone gives 1 and -1.42.
#include "common/example.hpp"
#include "common/regression.hpp"
#include "common/seeds.hpp"
#include "common/table.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/data/sets/table.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/likelihoods.hpp>
#include <pollen/nn/training/train.hpp>

#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

using namespace pollen;

constexpr std::int64_t hidden = 50;
constexpr std::int64_t batch = 32;
constexpr double learning_rate = 0.01;
constexpr double prior_sd = 0.25;

// y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise, and five inputs that do not matter.
pollen::Table friedman(std::int64_t rows, std::uint64_t seed) {
    pollen::Table table{{"x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "y"},
                        Tensor<double>::zeros({rows, 11})};
    Random random(seed);
    for (std::int64_t i = 0; i < rows; ++i) {
        double* x = table.values.mutable_data() + 11 * i;
        for (int j = 0; j < 10; ++j) x[j] = random.uniform();
        x[10] = 10 * math::sin(std::numbers::pi * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] +
                5 * x[4] + random.normal();
    }
    return table;
}

// A network fitted to one part of the data and tested on the other, in the units of the table.
struct Tested {
    double rmse, log_likelihood;
};
Tested test_split(const Dataset<float>& data, std::int64_t epochs, std::uint64_t seed) {
    const auto [first, second] = split(data, 0.9, seed);
    const RegressionTask task = standardised(first, second);
    Sequential net{Dense(data.inputs.shape()[1], hidden), Relu(), Dense(hidden, 1)};
    auto likelihood = Gaussian<float>::learned(0.5);
    const std::int64_t steps = epochs * ((task.train_data.size() + batch - 1) / batch);
    unless_stopped(train(net, likelihood, task.train_data,
                         {.epochs = epochs,
                          .batch = batch,
                          .optimiser = Adam{.rate = Schedule::cosine(learning_rate, steps)},
                          .seed = seed,
                          .prior = GaussianPrior{prior_sd},
                          .show = Show::nothing}));
    // Errors are sd times as large as on the standardised target, densities 1 / sd times as high.
    const Evaluation test = evaluate(net, likelihood, task.test_data);
    return {test.score * task.unit, -test.loss - math::log(task.unit)};
}

int main(int argc, char** argv) {
    Example example("Regression on any table: a network that predicts a number, with the noise learned.", "10 seconds");
    std::string file, target;
    std::int64_t rows = 1000, splits = 20, epochs = 100;
    example.file("FILE", file, "a table of numbers, CSV or separated by blanks; without one a table is made");
    example.option("--target", target, "the column to predict; the last one unless given");
    example.option("--rows", rows, 1000, "of the table that is made", 20);
    example.option("--splits", splits, 4, "into training and test data", 1);
    example.option("--epochs", epochs, 60, "passes through the training data", 1);
    return example.run(argc, argv, [&] {
        const pollen::Table given = file.empty() ? friedman(rows, example.seed) : read_table(file);
        if (target.empty()) target = given.columns.back();
        const Dataset<float> data = table_dataset<float>(given, target, Target::numbers);
        if (data.size() < 20) throw ValueError("a table needs at least 20 rows, not " + std::to_string(data.size()));
        std::printf("%lld rows, %lld inputs, predicting \"%s\"\n\n", static_cast<long long>(data.size()),
                    static_cast<long long>(data.inputs.shape()[1]), target.c_str());

        std::vector<double> rmse, log_likelihood;
        for (std::int64_t k = 0; k < splits; ++k) {
            const Tested test = test_split(data, epochs, example.seed + static_cast<std::uint64_t>(k));
            rmse.push_back(test.rmse);
            log_likelihood.push_back(test.log_likelihood);
            std::printf("split %2lld  rmse %8.4f  log-likelihood %8.4f\n", static_cast<long long>(k) + 1, test.rmse,
                        test.log_likelihood);
        }
        ResultTable table({"on test data", "mean", "noise alone"});
        table.row({"rmse", mean_cell(rmse, 3), file.empty() ? "1" : ""});
        table.row({"log-likelihood", mean_cell(log_likelihood, 3), file.empty() ? "-1.42" : ""});
        table.show();
        table.save(example.path("uci_regression"));
    });
}
