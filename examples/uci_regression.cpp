// Regression on any table: a network with one hidden layer that predicts a number, with the noise learned.
//
//     ./run example uci_regression FILE [TARGET]     TARGET: the name of the column to predict; the last one by default
//     ./run example uci_regression                   makes a table of its own (Friedman 1991, Eq. 61) and uses that
//
// FILE is a CSV file, or a table separated by blanks, plain or gzipped, all its columns numbers: the UCI regression
// sets, for example. Twenty random splits into 90 % training and 10 % test data, as the literature does; inputs and
// target are standardised on the training part alone.
//
// Expected output: root mean squared error and log-likelihood on the test data, mean and standard error over the
// splits; for the table made here about 1.21 +- 0.02 and -1.83 +- 0.04, where the noise alone gives 1 and -1.42.
#include "example.hpp"

#include <pollen/pollen.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

using namespace pollen;

constexpr std::int64_t hidden = 50;
constexpr std::int64_t epochs = 100;
constexpr std::int64_t batch = 32;
constexpr double learning_rate = 0.01;
constexpr double prior_sd = 0.25;
constexpr std::uint64_t seed = 1;

// y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5 + noise, and five inputs that do not matter.
Table friedman(std::int64_t rows) {
    Table table{{"x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "y"}, Tensor<double>::zeros({rows, 11})};
    Random random(seed);
    for (std::int64_t i = 0; i < rows; ++i) {
        double* x = table.values.mutable_data() + 11 * i;
        for (int j = 0; j < 10; ++j) x[j] = random.uniform();
        x[10] = 10 * std::sin(std::numbers::pi * x[0] * x[1]) + 20 * (x[2] - 0.5) * (x[2] - 0.5) + 10 * x[3] +
                5 * x[4] + random.normal();
    }
    return table;
}

// Columns are separated by commas, semicolons or blanks: the first that fits.
Table read_table(const std::string& path) {
    std::string first_error;
    for (const char delimiter : {',', ';', ' '}) {
        try {
            Table table = read_csv(path, {.delimiter = delimiter});
            if (table.columns.size() > 1) return table;
        } catch (const FileError& error) {
            if (first_error.empty()) first_error = error.what();
        }
    }
    throw FileError(first_error.empty() ? path + ": has only one column" : first_error);
}

struct Mean {
    double sum = 0, squares = 0, n = 0;
    void add(double x) {
        sum += x;
        squares += x * x;
        ++n;
    }
    double mean() const { return sum / n; }
    double error() const { return n > 1 ? std::sqrt((squares / n - mean() * mean()) / (n - 1)) : 0; }
};

int run(const Arguments& arguments) {
    const bool quick = arguments.quick;
    const std::vector<std::string>& given = arguments.values;
    const Table table = given.empty() ? friedman(quick ? 200 : 1000) : read_table(given[0]);
    const std::string target = given.size() > 1 ? given[1] : table.columns.back();
    const Dataset<float> data = table_dataset<float>(table, target, Target::numbers);
    if (data.size() < 20) throw ValueError("a table needs at least 20 rows, not " + std::to_string(data.size()));
    std::printf("%lld rows, %lld inputs, predicting \"%s\"\n\n", static_cast<long long>(data.size()),
                static_cast<long long>(data.inputs.shape()[1]), target.c_str());

    Mean rmse, log_likelihood;
    const std::uint64_t splits = quick ? 2 : 20;
    for (std::uint64_t split_seed = 1; split_seed <= splits; ++split_seed) {
        auto [train_data, test_data] = split(data, 0.9, split_seed);
        const Standardiser<float> inputs(train_data.inputs), targets(train_data.targets);
        for (Dataset<float>* part : {&train_data, &test_data}) {
            part->inputs = inputs.apply(part->inputs);
            part->targets = targets.apply(part->targets);
        }
        const std::int64_t width = data.inputs.shape()[1];
        Sequential net{Dense(width, hidden), Relu(), Dense(hidden, 1)};
        auto likelihood = Gaussian<float>::learned(0.5);
        const std::int64_t steps = epochs * ((train_data.size() + batch - 1) / batch);
        const TrainResult result = train(net, likelihood, train_data,
                                         {.epochs = quick ? 5 : epochs,
                                          .batch = batch,
                                          .optimiser = Adam{.rate = Schedule::cosine(learning_rate, steps)},
                                          .seed = seed,
                                          .prior_sd = prior_sd,
                                          .show = Show::nothing});
        if (result.end == TrainResult::End::interrupted) return 1;
        // Back to the units of the table: errors are sd times as large, densities 1 / sd times as high.
        const double sd = static_cast<double>(targets.sd().item());
        const Evaluation test = evaluate(net, likelihood, test_data);
        rmse.add(test.score * sd);
        log_likelihood.add(-test.loss - std::log(sd));
        std::printf("split %2llu  rmse %8.4f  log-likelihood %8.4f\n", static_cast<unsigned long long>(split_seed),
                    test.score * sd, -test.loss - std::log(sd));
        std::fflush(stdout);
    }
    std::printf("\ntest rmse %.4f +- %.4f, log-likelihood %.4f +- %.4f\n", rmse.mean(), rmse.error(),
                log_likelihood.mean(), log_likelihood.error());
    return 0;
}

int main(int argc, char** argv) { return run_example(argc, argv, run); }
