#include <pollen/data/sets/dataset.hpp>

#include <pollen/autograd/random.hpp>
#include <pollen/autograd/rows.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace pollen {

namespace {

// A data set may have no targets, or no labels: a tensor of shape (0).
template <class T>
bool is_missing(const Tensor<T>& part) {
    return part.size() == 0 && part.rank() == 1;
}

// f(part) for inputs, targets and labels; a missing part stays missing.
template <Real T, class F>
Dataset<T> each_part(const Dataset<T>& data, const F& f) {
    const auto part = [&](const auto& x) { return is_missing(x) ? std::decay_t<decltype(x)>() : f(x); };
    return {part(data.inputs), part(data.targets), part(data.labels)};
}

}  // namespace

template <Real T>
void Dataset<T>::check() const {
    if (inputs.rank() == 0)
        throw ShapeError("Dataset: the inputs are one number; their first axis must count the items");
    const auto same = [this](const char* what, const auto& part) {
        if (is_missing(part)) return;
        const std::int64_t count = part.rank() > 0 ? part.shape()[0] : 0;
        if (count != size())
            throw ShapeError("Dataset: inputs " + to_string(inputs.shape()) + " are " + std::to_string(size()) +
                             " items, " + what + " " + to_string(part.shape()) + " are " + std::to_string(count));
    };
    same("targets", targets);
    same("labels", labels);
    if (labels.rank() > 1)
        throw ShapeError("Dataset: labels have shape " + to_string(labels.shape()) + "; one label an item is needed");
}

template <Real T>
Dataset<T> Dataset<T>::take(std::span<const std::int64_t> items) const {
    check();
    for (const std::int64_t item : items) {
        if (item < 0 || item >= size())
            throw ShapeError("Dataset: there is no item " + std::to_string(item) + "; the data have " +
                             std::to_string(size()) + " items");
    }
    return each_part(*this, [&](const auto& x) { return take_rows(x, items); });
}

template <Real T>
void Dataset<T>::check_finite(const std::string& who, std::int64_t first) const {
    const auto bad = std::find_if(inputs.begin(), inputs.end(), [](T x) { return !std::isfinite(x); });
    if (bad != inputs.end())
        throw ValueError(who + ": the inputs of item " +
                         std::to_string(first + (bad - inputs.begin()) / (inputs.size() / size())) +
                         " of the data set are not all finite numbers");
}

template <Real T>
Dataset<T> Dataset<T>::view(std::int64_t first, std::int64_t count) const {
    check();
    if (first < 0 || count < 0 || first > size() || count > size() - first)
        throw ShapeError("Dataset: items " + std::to_string(first) + " to " + std::to_string(first + count - 1) +
                         " of data with " + std::to_string(size()) + " items");
    return each_part(*this, [&](const auto& x) { return rows(x, first, count); });
}

template <Real T>
Dataset<T> Dataset<T>::slice(std::int64_t first, std::int64_t count) const {
    const auto copy = [](const auto& x) { return std::decay_t<decltype(x)>(x.shape(), x.values()); };
    return each_part(view(first, count), copy);
}

template <Real T>
std::pair<Dataset<T>, Dataset<T>> split(const Dataset<T>& data, double fraction, std::uint64_t seed) {
    if (!(fraction >= 0 && fraction <= 1))
        throw ValueError("split: the fraction is " + std::to_string(fraction) + "; it must be between 0 and 1");
    const std::vector<std::int64_t> order = Random(seed, stream_of(Purpose::split)).permutation(data.size());
    const auto cut = static_cast<std::size_t>(std::llround(fraction * static_cast<double>(data.size())));
    return {data.take(std::span(order).first(cut)), data.take(std::span(order).subspan(cut))};
}

template <Real T>
std::pair<Dataset<T>, Dataset<T>> split_last(const Dataset<T>& data, std::int64_t count) {
    if (count < 0 || count > data.size())
        throw ValueError("split_last: the last " + std::to_string(count) + " of " + std::to_string(data.size()) +
                         " items");
    return {data.slice(0, data.size() - count), data.slice(data.size() - count, count)};
}

template <Real T>
Tensor<T> one_hot(const Indices& labels, std::int64_t classes) {
    if (labels.rank() != 1)
        throw ShapeError("one_hot: labels have shape " + to_string(labels.shape()) + "; a list of labels is needed");
    if (classes < 1) throw ValueError("one_hot: " + std::to_string(classes) + " classes; at least 1 is needed");
    Tensor<T> y = Tensor<T>::zeros(Shape{labels.size(), classes});
    for (std::int64_t i = 0; i < labels.size(); ++i) {
        const std::int64_t label = labels.data()[i];
        if (label < 0 || label >= classes)
            throw ValueError("one_hot: label " + std::to_string(label) + " of item " + std::to_string(i) +
                             " is out of range; there are classes 0 to " + std::to_string(classes - 1));
        y.mutable_data()[i * classes + label] = T(1);
    }
    return y;
}

namespace {

std::int64_t row_size(const Shape& shape) {
    std::int64_t size = 1;
    for (const std::int64_t n : shape.sizes().subspan(1)) size *= n;
    return size;
}

}  // namespace

// Two passes in double: the mean first, then the mean of the squares about it.
template <Real T>
Standardiser<T>::Standardiser(const Tensor<T>& x) {
    if (x.rank() == 0 || x.shape()[0] == 0)
        throw ShapeError("Standardiser: x has shape " + to_string(x.shape()) + "; at least one row is needed");
    const std::int64_t rows = x.shape()[0], columns = row_size(x.shape());
    std::vector<double> mean(static_cast<std::size_t>(columns)), square(mean.size());
    std::vector<bool> varies(mean.size());
    const auto each = [&](const auto& use) {
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j)
                use(static_cast<std::size_t>(j), static_cast<double>(x.data()[i * columns + j]));
    };
    each([&](std::size_t j, double v) { mean[j] += v; });
    for (std::size_t j = 0; j < mean.size(); ++j) {
        mean[j] /= static_cast<double>(rows);
        if (!std::isfinite(mean[j]))
            throw ValueError("Standardiser: column " + std::to_string(j) + " has numbers that are not finite");
    }
    each([&](std::size_t j, double v) {
        square[j] += (v - mean[j]) * (v - mean[j]);
        varies[j] = varies[j] || v != static_cast<double>(x.data()[j]);
    });
    const Shape shape(x.shape().sizes().subspan(1));
    mean_ = Tensor<T>::zeros(shape);
    sd_ = Tensor<T>::ones(shape);
    for (std::size_t j = 0; j < mean.size(); ++j) {
        mean_.mutable_data()[j] = varies[j] ? static_cast<T>(mean[j]) : x.data()[j];
        const auto sd = static_cast<T>(std::sqrt(square[j] / static_cast<double>(rows)));
        if (varies[j] && sd > 0) sd_.mutable_data()[j] = sd;
    }
}

template <Real T>
void Standardiser<T>::check(const char* what, const Tensor<T>& x) const {
    if (x.rank() == 0 || Shape(x.shape().sizes().subspan(1)) != mean_.shape())
        throw ShapeError(std::string("Standardiser: ") + what + " has shape " + to_string(x.shape()) +
                         "; rows of shape " + to_string(mean_.shape()) + " are needed");
}

template <Real T>
Tensor<T> Standardiser<T>::apply(const Tensor<T>& x) const {
    check("x", x);
    Tensor<T> z = Tensor<T>::empty(x.shape());
    const std::int64_t columns = mean_.size();
    for (std::int64_t i = 0; i < x.size(); ++i)
        z.fresh_data()[i] = (x.data()[i] - mean_.data()[i % columns]) / sd_.data()[i % columns];
    return z;
}

template <Real T>
Tensor<T> Standardiser<T>::invert(const Tensor<T>& z) const {
    check("z", z);
    Tensor<T> x = Tensor<T>::empty(z.shape());
    const std::int64_t columns = mean_.size();
    for (std::int64_t i = 0; i < z.size(); ++i)
        x.fresh_data()[i] = z.data()[i] * sd_.data()[i % columns] + mean_.data()[i % columns];
    return x;
}

#define POLLEN_INSTANTIATE(T)                                                                   \
    template struct Dataset<T>;                                                                 \
    template class Standardiser<T>;                                                             \
    template std::pair<Dataset<T>, Dataset<T>> split(const Dataset<T>&, double, std::uint64_t); \
    template std::pair<Dataset<T>, Dataset<T>> split_last(const Dataset<T>&, std::int64_t);     \
    template Tensor<T> one_hot(const Indices&, std::int64_t);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
