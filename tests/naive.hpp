#pragma once

#include "support.hpp"

#include <functional>
#include <initializer_list>

// References by plain loops over indices.
namespace pollen::test {

using Index = std::array<std::int64_t, max_rank>;

// Calls f(index) for every element of a tensor of that shape, in row-major order.
template <class F>
void for_each_index(const Shape& shape, const F& f) {
    Index index{};
    for (std::int64_t i = 0; i < shape.size(); ++i) {
        f(index);
        for (int axis = shape.rank() - 1; axis >= 0; --axis) {
            if (++index[static_cast<std::size_t>(axis)] < shape[axis]) break;
            index[static_cast<std::size_t>(axis)] = 0;
        }
    }
}

// The place of an index in a tensor that may be broadcast along some of the axes: shapes are aligned at their last
// axes.
inline std::int64_t place(const Shape& shape, const Index& index, int rank) {
    std::int64_t at = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        const std::int64_t i = index[static_cast<std::size_t>(axis + rank - shape.rank())];
        at = at * shape[axis] + (shape[axis] == 1 ? 0 : i);
    }
    return at;
}

// Every group of numbers of x that a reduction over the axes of `mask` makes one of, in the order of the result.
template <class T>
std::vector<std::vector<long double>> groups(const Tensor<T>& x, unsigned mask) {
    const Shape kept = reduced_shape(x.shape(), mask, true);
    std::vector<std::vector<long double>> all(static_cast<std::size_t>(kept.size()));
    std::int64_t at = 0;
    for_each_index(x.shape(), [&](const Index& index) {
        all[static_cast<std::size_t>(place(kept, index, x.rank()))].push_back(static_cast<long double>(x.data()[at++]));
    });
    return all;
}

using Numbers = std::vector<long double>;

// f of every group.
template <class T>
Tensor<double> reduce_naively(const Tensor<T>& x, unsigned mask, bool keepdims,
                              const std::function<long double(const Numbers&)>& f) {
    Tensor<double> y = Tensor<double>::zeros(reduced_shape(x.shape(), mask, keepdims));
    double* out = y.mutable_data();
    for (const Numbers& group : groups(x, mask)) *out++ = static_cast<double>(f(group));
    return y;
}

// f of every row along one axis, which gives as many numbers.
template <class T>
Tensor<double> map_rows_naively(const Tensor<T>& x, int axis, const std::function<Numbers(const Numbers&)>& f) {
    const unsigned mask = 1u << axis;
    const Shape kept = reduced_shape(x.shape(), mask, true);
    std::vector<Numbers> rows;
    for (const Numbers& group : groups(x, mask)) rows.push_back(f(group));
    Tensor<double> y = Tensor<double>::zeros(x.shape());
    double* out = y.mutable_data();
    for_each_index(x.shape(), [&](const Index& index) {
        const auto k = static_cast<std::size_t>(index[static_cast<std::size_t>(axis)]);
        *out++ = static_cast<double>(rows[static_cast<std::size_t>(place(kept, index, x.rank()))][k]);
    });
    return y;
}

// The axes whose bits are set.
inline Axes axes_of(unsigned mask) {
    std::array<int, max_rank> axes{};
    std::size_t n = 0;
    for (int axis = 0; axis < max_rank; ++axis) {
        if ((mask >> axis) & 1u) axes[n++] = axis;
    }
    const auto& a = axes;
    switch (n) {
        case 0:
            return Axes(std::initializer_list<int>{});
        case 1:
            return Axes{a[0]};
        case 2:
            return Axes{a[0], a[1]};
        case 3:
            return Axes{a[0], a[1], a[2]};
        case 4:
            return Axes{a[0], a[1], a[2], a[3]};
        case 5:
            return Axes{a[0], a[1], a[2], a[3], a[4]};
        default:
            return Axes{a[0], a[1], a[2], a[3], a[4], a[5]};
    }
}

// Whole numbers between -8 and 8: their sums are exact in any order.
template <class T>
Tensor<T> whole_numbers(const Shape& shape, std::uint64_t seed = 1) {
    Tensor<T> x = Tensor<T>::zeros(shape);
    Random random(seed);
    for (T& number : x.mutable_values()) number = static_cast<T>(std::floor(17 * random.uniform<double>()) - 8);
    return x;
}

}  // namespace pollen::test
