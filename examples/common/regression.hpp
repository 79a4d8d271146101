#pragma once

#include <pollen/data/formats/csv.hpp>
#include <pollen/data/sets/dataset.hpp>

#include <string>

// Regression on tables: reading one, and data that a network can learn from.

// A table of numbers, plain or gzipped. Columns are separated by commas, semicolons or blanks: the first that fits.
pollen::Table read_table(const std::string& path);

// Training data, and data to be tested on. Inputs and targets are standardised with the means and standard deviations
// of the training data.
struct RegressionTask {
    pollen::Dataset<float> train_data, test_data;
    double unit = 1;  // the standard deviation of the targets, in the units of the table
};
RegressionTask standardised(pollen::Dataset<float> train_data, pollen::Dataset<float> test_data);
