#include <pollen/data/sets/table.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>

#include <cmath>

namespace pollen {

namespace {

std::int32_t label_of(double x, std::int64_t row, const std::string& column) {
    if (!(x >= 0 && x < 2147483648.0 && x == std::floor(x)))
        throw ValueError("table_dataset: row " + std::to_string(row) + " of column " + column + " is " +
                         std::to_string(x) + "; labels are whole numbers from 0 up");
    return static_cast<std::int32_t>(x);
}

template <Real T>
T number_of(double x, std::int64_t row, const std::string& column) {
    const T number = static_cast<T>(x);
    if (std::isfinite(x) && !std::isfinite(number))
        throw ValueError("table_dataset: row " + std::to_string(row) + " of column " + column + " is " + to_text(x) +
                         ", which is too large for a float; use doubles");
    return number;
}

}  // namespace

template <Real T>
Dataset<T> table_dataset(const Table& table, const std::string& target, Target kind) {
    if (table.values.rank() != 2 || table.values.shape()[1] != std::ssize(table.columns))
        throw ShapeError("table_dataset: the table has " + std::to_string(table.columns.size()) +
                         " names of columns, but its values are " + to_string(table.values.shape()));
    const std::int64_t at = table.column(target), rows = table.values.shape()[0], columns = table.values.shape()[1];
    if (columns < 2)
        throw ValueError("table_dataset: the table has no column but " + target + "; there must be inputs, too");
    Dataset<T> data{.inputs = Tensor<T>::zeros({rows, columns - 1})};
    if (kind == Target::numbers)
        data.targets = Tensor<T>::zeros({rows, 1});
    else
        data.labels = Indices::zeros({rows});
    T* inputs = data.inputs.mutable_data();
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
            const double x = table.values.data()[i * columns + j];
            const std::string& column = table.columns[static_cast<std::size_t>(j)];
            if (j != at)
                *inputs++ = number_of<T>(x, i, column);
            else if (kind == Target::numbers)
                data.targets.mutable_data()[i] = number_of<T>(x, i, column);
            else
                data.labels.mutable_data()[i] = label_of(x, i, target);
        }
    return data;
}

template Dataset<float> table_dataset(const Table&, const std::string&, Target);
template Dataset<double> table_dataset(const Table&, const std::string&, Target);

}  // namespace pollen
