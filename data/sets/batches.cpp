#include <pollen/data/sets/batches.hpp>

#include <pollen/autograd/support/error.hpp>
#include <pollen/data/sets/detail/augment.hpp>

#include <string>

namespace pollen {

namespace {

template <Real T>
const Dataset<T>& checked(const Dataset<T>& data, const BatchOptions& options) {
    data.check();
    if (data.size() == 0) throw ShapeError("Batches: the data set is empty");
    if (options.size < 1)
        throw ValueError("Batches: a batch of " + std::to_string(options.size) + " items; at least 1 is needed");
    if (options.augmentation.shift < 0)
        throw ValueError("Batches: a shift of " + std::to_string(options.augmentation.shift) +
                         " pixels; at least 0 is needed");
    if (options.augmentation.any() && data.inputs.rank() != 4)
        throw ShapeError("Batches: augmentation needs images (n, channels, height, width), not inputs " +
                         to_string(data.inputs.shape()));
    return data;
}

}  // namespace

template <Real T>
Batches<T>::Batches(const Dataset<T>& data, BatchOptions options)
    : data_(checked(data, options)), options_(options), items_(data.size(), options.size, options.draw, options.seed) {}

template <Real T>
Dataset<T> Batches<T>::make(std::int64_t step) {
    Dataset<T> batch = data_.take(items_.at(step));
    if (options_.augmentation.any()) detail::augment(batch.inputs, options_, step);
    return batch;
}

template class Batches<float>;
template class Batches<double>;

}  // namespace pollen
