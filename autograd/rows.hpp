#pragma once

#include <pollen/autograd/tensor.hpp>

#include <cstdint>
#include <span>

// Rows of a tensor: the parts along its first axis. T is float, double or std::int32_t (Indices).
namespace pollen {

// The shape with `count` in the place of its first size. Throws a ShapeError if the shape has no axes.
Shape with_rows(const Shape& shape, std::int64_t count);

// Rows first, ..., first + count - 1 of x, without a copy: the result points into x, and x must outlive it. Throws a
// ShapeError if x does not have these rows.
template <class T>
Tensor<T> rows(const Tensor<T>& x, std::int64_t first, std::int64_t count);

// The same rows of a tensor that may go: the result shares its buffer. It is a copy if x does not own its numbers.
template <class T>
Tensor<T> share_rows(const Tensor<T>& x, std::int64_t first, std::int64_t count);

// A copy of the rows with these numbers, in this order; a number may come twice. Throws a ShapeError if x does not have
// one of these rows.
template <class T>
Tensor<T> take_rows(const Tensor<T>& x, std::span<const std::int64_t> numbers);

}  // namespace pollen
