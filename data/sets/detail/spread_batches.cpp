#include <pollen/data/sets/detail/spread_batches.hpp>

#include <pollen/data/sets/detail/augment.hpp>

namespace pollen::detail {

template <Real T>
SpreadBatches<T>::SpreadBatches(const Dataset<T>& data, const Spread& spread, BatchOptions options)
    : data_(data),
      spread_(spread),
      options_(options),
      items_(spread.items(), options.size, options.draw, options.seed) {
    if (data.size() != spread.count())
        throw ShapeError("Batches: a data set of " + std::to_string(data.size()) +
                         " items; by the spread this rank has items " + std::to_string(spread.first()) + " to " +
                         std::to_string(spread.last() - 1));
}

template <Real T>
typename SpreadBatches<T>::Batch SpreadBatches<T>::make(std::int64_t step) {
    const std::span<const std::int64_t> items = items_.at(step);
    Batch batch{.items = std::ssize(items)};
    for (const Spread::Part& part : spread_.parts(items)) {
        Dataset<T> rows = data_.take(part.items);
        if (options_.augmentation.any()) augment(rows.inputs, options_, step, part.places);
        batch.parts.push_back({part.block, part.first_row, std::move(rows)});
    }
    return batch;
}

template class SpreadBatches<float>;
template class SpreadBatches<double>;

}  // namespace pollen::detail
