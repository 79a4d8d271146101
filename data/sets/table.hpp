#pragma once

#include <pollen/data/formats/csv.hpp>
#include <pollen/data/sets/dataset.hpp>

namespace pollen {

// A table as a data set: one column is what is to be predicted, the others are the inputs.
//
//     numbers   targets (n, 1)
//     labels    labels (n), which must be whole numbers from 0 up
enum class Target { numbers, labels };

// Throws a ValueError if the table has no such column, if it has no other column, if a label is not a whole number from
// 0 up, or if a number is too large for T.
template <Real T>
Dataset<T> table_dataset(const Table& table, const std::string& target, Target kind);

}  // namespace pollen
