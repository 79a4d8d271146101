#include <pollen/data/sets/table.hpp>

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

}  // namespace

template <Real T>
Dataset<T> table_dataset(const Table& table, const std::string& target, Target kind) {
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
            if (j != at)
                *inputs++ = static_cast<T>(x);
            else if (kind == Target::numbers)
                data.targets.mutable_data()[i] = static_cast<T>(x);
            else
                data.labels.mutable_data()[i] = label_of(x, i, target);
        }
    return data;
}

template Dataset<float> table_dataset(const Table&, const std::string&, Target);
template Dataset<double> table_dataset(const Table&, const std::string&, Target);

}  // namespace pollen
