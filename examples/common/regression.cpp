#include "regression.hpp"

using namespace pollen;

pollen::Table read_table(const std::string& path) {
    std::string first_error;
    for (const char delimiter : {',', ';', ' '}) {
        try {
            pollen::Table table = read_csv(path, {.delimiter = delimiter});
            if (table.columns.size() > 1) return table;
        } catch (const FileError& error) {
            if (first_error.empty()) first_error = error.what();
        }
    }
    throw FileError(first_error.empty() ? path + ": has only one column" : first_error);
}

RegressionTask standardised(Dataset<float> train_data, Dataset<float> test_data) {
    const Standardiser<float> inputs(train_data.inputs), targets(train_data.targets);
    RegressionTask task{std::move(train_data), std::move(test_data), static_cast<double>(targets.sd().item())};
    for (Dataset<float>* part : {&task.train_data, &task.test_data}) {
        part->inputs = inputs.apply(part->inputs);
        part->targets = targets.apply(part->targets);
    }
    return task;
}
