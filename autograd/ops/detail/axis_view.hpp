#pragma once

#include <pollen/autograd/shape.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace pollen {

// A tensor seen from one axis, as (outer, size, inner): all that lies before the axis, the axis, all that lies after.
struct AxisView {
    std::int64_t outer = 1;
    std::int64_t size;
    std::int64_t inner = 1;

    AxisView(const Shape& shape, int axis) : size(shape[axis]) {
        for (int k = 0; k < shape.rank(); ++k) {
            if (k != axis) (k < axis ? outer : inner) *= shape[k];
        }
    }
};

// The shape with another size on one axis.
inline Shape with_size(const Shape& shape, int axis, std::int64_t size) {
    std::array<std::int64_t, max_rank> sizes{};
    for (int k = 0; k < shape.rank(); ++k) sizes[static_cast<std::size_t>(k)] = k == axis ? size : shape[k];
    return Shape(std::span<const std::int64_t>(sizes.data(), static_cast<std::size_t>(shape.rank())));
}

// The place of a new axis in a tensor that has `rank` axes so far, where -1 is the last place.
inline int normalize_new_axis(const char* op, int axis, int rank) {
    if (axis < -rank - 1 || axis > rank)
        throw ShapeError(std::string(op) + ": there is no place " + std::to_string(axis) +
                         " for a new axis; a tensor of rank " + std::to_string(rank) + " has places " +
                         std::to_string(-rank - 1) + " to " + std::to_string(rank));
    return axis < 0 ? axis + rank + 1 : axis;
}

// The shape with a new axis of the given size.
inline Shape with_axis(const Shape& shape, int axis, std::int64_t size) {
    std::array<std::int64_t, max_rank + 1> sizes{};
    const std::span<const std::int64_t> old = shape.sizes();
    const auto at = std::copy_n(old.begin(), axis, sizes.begin());
    *at = size;
    std::copy(old.begin() + axis, old.end(), at + 1);
    return Shape(std::span<const std::int64_t>(sizes.data(), old.size() + 1));
}

}  // namespace pollen
