#pragma once

#include <pollen/autograd/kernels/log.hpp>
#include <pollen/autograd/kernels/reduced.hpp>
#include <pollen/autograd/ops/detail/axis_view.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

// What softmax and its relatives share.
namespace pollen {

// Whether the work is best done row by row: the axis is the last one, its rows are long enough for SIMD loops and short
// enough to stay in the cache while one thread goes over them several times.
inline bool by_rows(const AxisView& view) {
    return view.inner == 1 && view.size >= 16 && view.size <= kernels::reduce_chunk;
}

// Calls body(row) for every row, in parallel.
template <class Body>
void for_rows(std::int64_t rows, std::int64_t length, const Body& body) {
    parallel_for(rows, kernels::grain_for(length, kernels::reduce_chunk), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) body(row);
    });
}

// exp(x - m)
struct ExpAbove {
    template <class V>
    V operator()(const V& x, const V& m) const {
        return kernels::exp(x - m);
    }
};

template <class T>
T row_max(std::int64_t n, const T* x) {
    return kernels::reduce_serial<kernels::Max, T>(n, kernels::Keep{}, Stream<T>{x});
}

template <class T>
T row_sum(std::int64_t n, const T* x) {
    return kernels::reduce_serial<kernels::Sum, T>(n, kernels::Keep{}, Stream<T>{x});
}

// The slot of one row of a gradient.
template <class T>
GradientSlot<T> row_of(const GradientSlot<T>& slot, std::int64_t at) {
    return {slot.data + at, slot.fresh};
}

}  // namespace pollen
