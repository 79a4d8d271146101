#pragma once

#include <pollen/autograd/tensor.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace pollen {

// The rows of a tensor with these numbers, in this order; an empty tensor stays one. Rows are not checked.
template <class T>
Tensor<T> take_rows(const Tensor<T>& from, std::span<const std::int64_t> rows) {
    if (from.size() == 0 && from.rank() == 1 && !rows.empty()) return {};
    std::vector<std::int64_t> sizes(from.shape().sizes().begin(), from.shape().sizes().end());
    sizes[0] = std::ssize(rows);
    Tensor<T> to = Tensor<T>::empty(Shape(std::span<const std::int64_t>(sizes)));
    const std::int64_t width = from.shape()[0] > 0 ? from.size() / from.shape()[0] : 0;
    T* out = to.fresh_data();
    for (const std::int64_t row : rows) out = std::copy_n(from.data() + row * width, width, out);
    return to;
}

}  // namespace pollen
