#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <span>
#include <utility>

namespace pollen {

// Inputs with what is to be predicted from them: numbers, or labels of classes, or neither. The first axis of each
// counts the items. A batch is a small data set.
template <Real T>
struct Dataset {
    Tensor<T> inputs;     // (n, ...)
    Tensor<T> targets{};  // (n, ...), or empty
    Indices labels{};     // (n), or empty

    std::int64_t size() const { return inputs.rank() > 0 ? inputs.shape()[0] : 0; }

    // Throws a ShapeError if the numbers of inputs, targets and labels differ.
    void check() const;
    // Throws a ValueError `WHO: the inputs of item 17 of the data set are not all finite numbers` unless they are. If
    // these items are a part of a larger data set, `first` is the number of the first one there.
    void check_finite(const std::string& who, std::int64_t first = 0) const;

    // A copy of the items with these numbers, in this order.
    Dataset take(std::span<const std::int64_t> items) const;
    // The items first, ..., first + count - 1: as a copy, and without one. A view points into this data set, which must
    // outlive it.
    Dataset slice(std::int64_t first, std::int64_t count) const;
    Dataset view(std::int64_t first, std::int64_t count) const;
};

// Two parts: round(fraction n) items chosen by the seed, and the rest. The first part is in random order.
template <Real T>
std::pair<Dataset<T>, Dataset<T>> split(const Dataset<T>& data, double fraction, std::uint64_t seed);

// The last `count` items apart from the others, in order.
template <Real T>
std::pair<Dataset<T>, Dataset<T>> split_last(const Dataset<T>& data, std::int64_t count);

// (n, classes): 1 at the label, 0 elsewhere.
template <Real T>
Tensor<T> one_hot(const Indices& labels, std::int64_t classes);

// z = (x - mean) / sd, column by column, with the mean and standard deviation of the data it was fitted on. Fit it on
// the training part alone. For a column that is constant there, sd is 1.
template <Real T>
class Standardiser {
  public:
    explicit Standardiser(const Tensor<T>& x);  // (n, ...), at least one row, all finite

    Tensor<T> apply(const Tensor<T>& x) const;
    Tensor<T> invert(const Tensor<T>& z) const;

    const Tensor<T>& mean() const { return mean_; }
    const Tensor<T>& sd() const { return sd_; }

  private:
    void check(const char* what, const Tensor<T>& x) const;

    Tensor<T> mean_, sd_;
};

}  // namespace pollen
