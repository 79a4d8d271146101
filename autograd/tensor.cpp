#include <pollen/autograd/tensor.hpp>

#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <type_traits>

namespace pollen {

template <class T>
Tensor<T> Tensor<T>::empty(const Shape& shape, Pool& pool) {
    return adopt(pool.take(static_cast<std::size_t>(shape.size()) * sizeof(T)), shape);
}

template <class T>
Tensor<T>::Tensor(std::initializer_list<T> values)
    : Tensor(Shape{static_cast<std::int64_t>(values.size())}, std::span<const T>(values.begin(), values.size())) {}

template <class T>
Tensor<T>::Tensor(std::initializer_list<std::initializer_list<T>> rows) {
    const std::size_t columns = rows.size() ? rows.begin()->size() : 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows.begin()[i].size() != columns)
            throw ShapeError("tensor: row " + std::to_string(i) + " has " + std::to_string(rows.begin()[i].size()) +
                             " numbers where row 0 has " + std::to_string(columns) + "; rows must be equally long");
    }
    *this = empty(Shape{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(columns)});
    T* out = fresh_data();
    for (const auto& row : rows) out = std::copy(row.begin(), row.end(), out);
}

template <class T>
Tensor<T>::Tensor(const Shape& shape, std::span<const T> values) {
    if (static_cast<std::int64_t>(values.size()) != shape.size())
        throw ShapeError("tensor: " + std::to_string(values.size()) + " numbers for shape " + pollen::to_string(shape) +
                         ", which holds " + std::to_string(shape.size()));
    *this = empty(shape);
    std::copy(values.begin(), values.end(), fresh_data());
}

template <class T>
Tensor<T> Tensor<T>::full(const Shape& shape, T value) {
    Tensor tensor = empty(shape);
    std::fill_n(tensor.fresh_data(), tensor.size(), value);
    return tensor;
}

template <class T>
Tensor<T> Tensor<T>::arange(std::int64_t n) {
    Tensor tensor = empty(Shape{n});
    for (std::int64_t i = 0; i < n; ++i) tensor.fresh_data()[i] = static_cast<T>(i);
    return tensor;
}

template <class T>
Tensor<T> Tensor<T>::linspace(T first, T last, std::int64_t n) {
    Tensor tensor = empty(Shape{n});
    for (std::int64_t i = 0; i < n; ++i) {
        const double t = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0.0;
        tensor.fresh_data()[i] = static_cast<T>(static_cast<double>(first) * (1.0 - t) + static_cast<double>(last) * t);
    }
    return tensor;
}

template <class T>
Tensor<T> Tensor<T>::eye(std::int64_t n) {
    Tensor tensor = zeros(Shape{n, n});
    for (std::int64_t i = 0; i < n; ++i) tensor.fresh_data()[i * (n + 1)] = T(1);
    return tensor;
}

template <class T>
void Tensor<T>::own() {
    Tensor mine = empty(shape_);
    if (size() > 0) std::memcpy(mine.fresh_data(), data_, static_cast<std::size_t>(size()) * sizeof(T));
    swap(*this, mine);
}

template <class T>
T Tensor<T>::item() const {
    if (size() != 1)
        throw ShapeError("item: a tensor of shape " + pollen::to_string(shape_) + " has " + std::to_string(size()) +
                         " elements, not one");
    return data_[0];
}

template <class T>
Tensor<T> Tensor<T>::reshaped(const Shape& shape) const {
    if (shape.size() != size())
        throw ShapeError("reshape: " + pollen::to_string(shape_) + " has " + std::to_string(size()) + " elements, " +
                         pollen::to_string(shape) + " has " + std::to_string(shape.size()));
    Tensor tensor = *this;
    tensor.shape_ = shape;
    return tensor;
}

template <class T>
Tensor<T> Tensor<T>::reshaped(std::initializer_list<std::int64_t> sizes) const {
    return reshaped(resolve_reshape("reshape", shape_, std::span(sizes.begin(), sizes.size())));
}

template <class T>
Tensor<T> Tensor<T>::slice(std::int64_t first, const Shape& shape) const {
    if (first < 0 || first > size() || shape.size() > size() - first)
        throw ShapeError("slice: " + std::to_string(shape.size()) + " elements from element " + std::to_string(first) +
                         " on; the tensor " + pollen::to_string(shape_) + " has " + std::to_string(size()));
    if (!owner_)
        return Tensor(shape, values().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(shape.size())));
    Tensor tensor = *this;
    tensor.data_ += first;
    tensor.shape_ = shape;
    return tensor;
}

template <class T>
bool Tensor<T>::operator==(const Tensor& other) const {
    return shape_ == other.shape_ && std::equal(begin(), end(), other.begin());
}

template <class T>
std::int64_t Tensor<T>::offset(std::initializer_list<std::int64_t> index) const {
    if (static_cast<int>(index.size()) != rank())
        throw ShapeError("tensor: " + std::to_string(index.size()) + " indices for shape " + pollen::to_string(shape_) +
                         "; " + std::to_string(rank()) + " are needed");
    std::int64_t at = 0;
    int axis = 0;
    for (std::int64_t i : index) {
        if (i < 0 || i >= shape_[axis])
            throw ShapeError("tensor: index " + std::to_string(i) + " is out of range for axis " +
                             std::to_string(axis) + " of shape " + pollen::to_string(shape_));
        at = at * shape_[axis++] + i;
    }
    return at;
}

template <Real T>
bool allclose(const Tensor<T>& a, const Tensor<T>& b, T rtol, T atol) {
    if (a.shape() != b.shape()) return false;
    return std::equal(a.begin(), a.end(), b.begin(),
                      [&](T x, T y) { return x == y || std::abs(x - y) <= atol + rtol * std::abs(y); });
}

template <class To, class From>
Tensor<To> cast(const Tensor<From>& tensor) {
    // What becomes of a number that the integer cannot hold differs between CPUs.
    if constexpr (std::is_integral_v<To>)
        for (std::int64_t i = 0; i < tensor.size(); ++i)
            if (const double x = static_cast<double>(tensor.data()[i]); !(x > -0x1p31 - 1 && x < 0x1p31))
                throw ValueError("cast: element " + std::to_string(i) + " is " + to_text(x) +
                                 "; an int32 holds -2147483648 to 2147483647");
    Tensor<To> result = Tensor<To>::empty(tensor.shape());
    std::transform(tensor.begin(), tensor.end(), result.fresh_data(), [](From x) { return static_cast<To>(x); });
    return result;
}

template class Tensor<float>;
template class Tensor<double>;
template class Tensor<std::int32_t>;
template bool allclose(const Tensor<float>&, const Tensor<float>&, float, float);
template bool allclose(const Tensor<double>&, const Tensor<double>&, double, double);
template Tensor<double> cast(const Tensor<float>&);
template Tensor<float> cast(const Tensor<double>&);
template Tensor<std::int32_t> cast(const Tensor<float>&);
template Tensor<std::int32_t> cast(const Tensor<double>&);
template Tensor<float> cast(const Tensor<std::int32_t>&);
template Tensor<double> cast(const Tensor<std::int32_t>&);
template Tensor<float> cast(const Tensor<float>&);
template Tensor<double> cast(const Tensor<double>&);

}  // namespace pollen
