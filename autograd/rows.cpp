#include <pollen/autograd/rows.hpp>

#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace pollen {

namespace {

// How many rows x has. The name of the function begins the message of an error.
template <class T>
std::int64_t count_of(const char* function, const Tensor<T>& x) {
    if (x.rank() == 0)
        throw ShapeError(std::string(function) + ": x is a scalar; it needs a first axis, which counts the rows");
    return x.shape()[0];
}

// Where rows first, ..., first + count - 1 of x begin among its numbers.
template <class T>
std::int64_t offset_of(const char* function, const Tensor<T>& x, std::int64_t first, std::int64_t count) {
    const std::int64_t all = count_of(function, x);
    if (first < 0 || count < 0 || first > all || count > all - first)
        throw ShapeError(std::string(function) + ": " + std::to_string(count) + " rows from row " +
                         std::to_string(first) + " on of x " + to_string(x.shape()) + ", which has " +
                         std::to_string(all) + " rows");
    return all > 0 ? first * (x.size() / all) : 0;
}

}  // namespace

Shape with_rows(const Shape& shape, std::int64_t count) {
    if (shape.rank() == 0) throw ShapeError("with_rows: the shape is (); it needs a first axis, which counts the rows");
    std::array<std::int64_t, max_rank> sizes{};
    std::copy(shape.sizes().begin(), shape.sizes().end(), sizes.begin());
    sizes[0] = count;
    return Shape(std::span<const std::int64_t>(sizes).first(shape.sizes().size()));
}

template <class T>
Tensor<T> rows(const Tensor<T>& x, std::int64_t first, std::int64_t count) {
    const std::int64_t offset = offset_of("rows", x, first, count);
    return Tensor<T>::borrow(x.data() + offset, with_rows(x.shape(), count));
}

template <class T>
Tensor<T> share_rows(const Tensor<T>& x, std::int64_t first, std::int64_t count) {
    return x.slice(offset_of("share_rows", x, first, count), with_rows(x.shape(), count));
}

template <class T>
Tensor<T> take_rows(const Tensor<T>& x, std::span<const std::int64_t> numbers) {
    const std::int64_t all = count_of("take_rows", x), width = all > 0 ? x.size() / all : 0;
    for (const std::int64_t row : numbers)
        if (row < 0 || row >= all)
            throw ShapeError("take_rows: there is no row " + std::to_string(row) + "; x " + to_string(x.shape()) +
                             " has " + std::to_string(all) + " rows");
    Tensor<T> taken = Tensor<T>::empty(with_rows(x.shape(), std::ssize(numbers)));
    T* to = taken.fresh_data();
    for (const std::int64_t row : numbers) to = std::copy_n(x.data() + row * width, width, to);
    return taken;
}

#define POLLEN_INSTANTIATE(T)                                                    \
    template Tensor<T> rows(const Tensor<T>&, std::int64_t, std::int64_t);       \
    template Tensor<T> share_rows(const Tensor<T>&, std::int64_t, std::int64_t); \
    template Tensor<T> take_rows(const Tensor<T>&, std::span<const std::int64_t>);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)
POLLEN_INSTANTIATE(std::int32_t)

}  // namespace pollen
