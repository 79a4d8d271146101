#pragma once

#include <pollen/autograd/kernels/broadcast.hpp>
#include <pollen/autograd/kernels/lanes.hpp>

// Loops over a tensor beside numbers that were reduced from it: x - max(x), or dL/dy exp(x - y).
namespace pollen::kernels {

// How many numbers go into each one that a reduction over the axes of `mask` leaves.
inline std::int64_t reduced_count(const Shape& shape, unsigned mask) {
    std::int64_t n = 1;
    for (int axis = 0; axis < shape.rank(); ++axis) {
        if ((mask >> axis) & 1u) n *= shape[axis];
    }
    return n;
}

// How the numbers that a reduction leaves run along the tensor they were reduced from.
struct ReducedPlan {
    Shape shape;
    unsigned mask;
    BroadcastPlan rows;  // the reduced numbers are its first operand, the tensor its second

    ReducedPlan(const Shape& full, unsigned axes)
        : shape(full), mask(axes), rows(reduced_shape(full, axes, true), full, full) {}

    std::int64_t count() const { return reduced_count(shape, mask); }
};

// An operand of the tensor's size, and a reduced one. Along a row of the plan the latter moves as well or stands still.
template <class T>
struct Full {
    const T* data;

    Stream<T> moving(std::int64_t full, std::int64_t) const { return {data + full}; }
    Stream<T> still(std::int64_t full, std::int64_t) const { return {data + full}; }

    struct Rows {
        const T* data;
        std::int64_t length;
        const T* rows(std::int64_t first, std::int64_t) const { return data + first * length; }
    };
    Rows narrow(const BroadcastPlan& plan) const { return {data, plan.inner().size}; }
};

template <class T>
struct Reduced {
    const T* data;

    Stream<T> moving(std::int64_t, std::int64_t reduced) const { return {data + reduced}; }
    Splat<T> still(std::int64_t, std::int64_t reduced) const { return {data[reduced]}; }
    NarrowOperand<T> narrow(const BroadcastPlan& plan) const { return {plan, &BroadcastPlan::Axis::a, data}; }
};

// out[i] = f(operand at i...), out of the tensor's size.
template <class T, class F, class... Operand>
void map_reduced(const ReducedPlan& plan, T* out, const F& f, const Operand&... operand) {
    const BroadcastPlan& rows = plan.rows;
    if (rows.size == 0) return;
    const std::int64_t n = rows.inner().size;
    const auto map_one = [&](std::int64_t at, std::int64_t reduced) {
        if (rows.inner().a)
            map(n, out + at, f, operand.moving(at, reduced)...);
        else
            map(n, out + at, f, operand.still(at, reduced)...);
    };
    if (rows.rank == 1) return map_one(0, 0);
    parallel_for(rows.size / n, grain_for(n), [&](std::int64_t begin, std::int64_t end) {
        if (n < static_cast<std::int64_t>(Batch<T>::size)) {
            const std::int64_t step = NarrowOperand<T>::block / n;
            [&](auto&&... narrow) {
                for (std::int64_t row = begin; row < end; row += step) {
                    const std::int64_t now = std::min(step, end - row);
                    map_serial(now * n, out + row * n, f, Stream<T>{narrow.rows(row, now)}...);
                }
            }(operand.narrow(rows)...);
            return;
        }
        RowWalk walk(rows, begin);
        for (std::int64_t row = begin; row < end; ++row, walk.next()) map_one(row * n, walk.a);
    });
}

// The gradient form.
template <class T, class F, class... Operand>
void map_reduced_into(const GradientSlot<T>& slot, const ReducedPlan& plan, const F& f, const Operand&... operand) {
    if (!slot) return;
    if (slot.fresh)
        map_reduced(plan, slot.data, f, operand...);
    else
        map_reduced(
            plan, slot.data, [&f](const Batch<T>& sum, const auto&... x) { return sum + f(x...); }, Full<T>{slot.data},
            operand...);
}

// out = Op over the plan's axes of f(operand...), with memory from the pool where it must be held before it is reduced.
template <class Op, class T, class F, class... Operand>
void reduce_reduced(const ReducedPlan& plan, Pool& pool, T* out, const F& f, const Operand&... operand) {
    const BroadcastPlan& rows = plan.rows;
    const std::int64_t n = rows.inner().size;
    if (rows.size > 0 && rows.rank == 1 && !rows.inner().a) {
        *out = reduce_all<Op, T>(n, f, operand.still(0, 0)...);
        return;
    }
    if (rows.size > 0 && rows.rank == 2 && !rows.inner().a && n >= sum_lanes<T>) {
        parallel_for(rows.size / n, grain_for(n, reduce_grain), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t row = begin; row < end; ++row)
                out[row] = reduce_all<Op, T>(n, f, operand.still(row * n, row)...);
        });
        return;
    }
    Tensor<T> all = Tensor<T>::empty(plan.shape, pool);
    map_reduced(plan, all.fresh_data(), f, operand...);
    reduce_axes<Op>(all.data(), plan.shape, plan.mask, out);
}

}  // namespace pollen::kernels
