#pragma once

#include "../common/example.hpp"

#include <cstdint>

// How normal is the noise of a batch? The loss is -log p of 1000 waiting times y ~ Exponential(theta), so that item i
// has the gradient y_i - 1 / theta. The y_i are the quantiles of that distribution at theta = 1: skewed, with an excess
// kurtosis of 5.3. Each row of the table is one size of the batch.
void table_of_kurtosis(const Example& example, std::int64_t batches);
