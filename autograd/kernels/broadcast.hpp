#pragma once

#include <pollen/autograd/kernels/reduce.hpp>

#include <array>

// Elementwise loops over two operands of different shapes, a and b, that broadcast to a third.
namespace pollen::kernels {

// How a and b run along the output: neighbouring axes that behave alike are merged, so most cases end up with one or
// two axes. Only the last one is a SIMD loop.
struct BroadcastPlan {
    struct Axis {
        std::int64_t size;
        std::int64_t a;  // how far a moves for one step along this axis: 0 where it is repeated
        std::int64_t b;
    };
    std::array<Axis, max_rank> axes;
    int rank = 0;
    std::int64_t size = 0;  // of the output

    BroadcastPlan(const Shape& a, const Shape& b, const Shape& out) : size(out.size()) {
        if (a.size() == 1 || b.size() == 1) {  // a number beside a tensor: the common case in small models
            axes[0] = {out.size(), a.size() == out.size(), b.size() == out.size()};
            rank = 1;
        } else {
            merge_axes(a, b, out);
        }
    }

    const Axis& inner() const { return axes[static_cast<std::size_t>(rank - 1)]; }

  private:
    void merge_axes(const Shape& a, const Shape& b, const Shape& out);
};

// Where the operands stand as the output is walked through row by row.
class RowWalk {
  public:
    RowWalk(const BroadcastPlan& plan, std::int64_t row) : plan_(plan) {
        for (int k = plan.rank - 2; k >= 0; --k) {
            const BroadcastPlan::Axis& axis = plan.axes[static_cast<std::size_t>(k)];
            index_[static_cast<std::size_t>(k)] = row % axis.size;
            a += row % axis.size * axis.a;
            b += row % axis.size * axis.b;
            row /= axis.size;
        }
    }
    void next() {
        for (int k = plan_.rank - 2; k >= 0; --k) {
            const BroadcastPlan::Axis& axis = plan_.axes[static_cast<std::size_t>(k)];
            a += axis.a;
            b += axis.b;
            if (++index_[static_cast<std::size_t>(k)] < axis.size) return;
            index_[static_cast<std::size_t>(k)] = 0;
            a -= axis.size * axis.a;
            b -= axis.size * axis.b;
        }
    }

    std::int64_t a = 0, b = 0;

  private:
    const BroadcastPlan& plan_;
    std::array<std::int64_t, max_rank> index_{};
};

// Short rows are not worth a SIMD loop each. Their operands are written out, some hundred numbers at a time, and the
// loop runs over those.
template <class T>
class NarrowOperand {
  public:
    static constexpr std::int64_t block = 512;

    NarrowOperand(const BroadcastPlan& plan, std::int64_t BroadcastPlan::Axis::*stride, const T* data);

    // Whether rows of length n are short in this sense: always where they do not fill a batch, and up to 32 where
    // the operand need not be written out again and again.
    bool pays(std::int64_t n) const {
        return n < static_cast<std::int64_t>(Batch<T>::size) || (n < 32 && (whole_ || periodic_));
    }

    // The operand's numbers for rows [first, first + rows) of the output, of at most `block` numbers.
    const T* rows(std::int64_t first, std::int64_t rows) {
        if (whole_) return data_ + first * plan_.inner().size;
        if (!periodic_ || rows > written_) write(first, rows);
        return held_;
    }

  private:
    void write(std::int64_t first, std::int64_t rows);

    alignas(64) T held_[block];
    const BroadcastPlan& plan_;
    std::int64_t BroadcastPlan::Axis::*stride_;
    const T* data_;
    bool whole_ = true;     // repeated nowhere
    bool periodic_ = true;  // the same in every row
    std::int64_t written_ = 0;
};

template <class T, class F, class... Full>
inline void map_row(std::int64_t n, const BroadcastPlan::Axis& axis, T* out, const F& f, const T* a, const T* b,
                    const Full*... full) {
    if (axis.a && axis.b)
        map(n, out, f, Stream<T>{a}, Stream<T>{b}, Stream<T>{full}...);
    else if (axis.a)
        map(n, out, f, Stream<T>{a}, Splat<T>{*b}, Stream<T>{full}...);
    else
        map(n, out, f, Splat<T>{*a}, Stream<T>{b}, Stream<T>{full}...);
}

// out[i] = f(a at i, b at i, full[i]...) where a and b are broadcast and the others have the output's size.
template <class T, class F, class... Full>
void map_broadcast(const BroadcastPlan& plan, T* out, const F& f, const T* a, const T* b, const Full*... full) {
    if (plan.size == 0) return;
    const BroadcastPlan::Axis inner = plan.inner();
    if (plan.rank == 1) return map_row(inner.size, inner, out, f, a, b, full...);
    const std::int64_t rows = plan.size / inner.size;
    parallel_for(rows, grain_for(inner.size), [&](std::int64_t begin, std::int64_t end) {
        NarrowOperand<T> rows_a(plan, &BroadcastPlan::Axis::a, a), rows_b(plan, &BroadcastPlan::Axis::b, b);
        if (rows_a.pays(inner.size) && rows_b.pays(inner.size)) {
            const std::int64_t step = NarrowOperand<T>::block / inner.size;
            for (std::int64_t row = begin; row < end; row += step) {
                const std::int64_t now = std::min(step, end - row), at = row * inner.size;
                map_serial(now * inner.size, out + at, f, Stream<T>{rows_a.rows(row, now)},
                           Stream<T>{rows_b.rows(row, now)}, Stream<T>{full + at}...);
            }
            return;
        }
        RowWalk walk(plan, begin);
        for (std::int64_t row = begin; row < end; ++row, walk.next()) {
            const std::int64_t at = row * inner.size;
            map_row(inner.size, inner, out + at, f, a + walk.a, b + walk.b, (full + at)...);
        }
    });
}

// The gradient of one of the operands, whose shape is `to`: f summed over the axes along which it was repeated.
template <class T, class F, class... Full>
void map_broadcast_into(const GradientSlot<T>& slot, const Shape& to, const BroadcastPlan& plan, const Shape& out_shape,
                        Pool& pool, const F& f, const T* a, const T* b, const Full*... full) {
    if (!slot) return;
    if (to.size() == plan.size) {
        if (slot.fresh) return map_broadcast(plan, slot.data, f, a, b, full...);
        const auto add = [&f](const Batch<T>& x, const Batch<T>& y, const Batch<T>& sum, const auto&... rest) {
            return sum + f(x, y, rest...);
        };
        return map_broadcast(plan, slot.data, add, a, b, static_cast<const T*>(slot.data), full...);
    }
    if (to.size() == 1 && plan.rank == 1) {
        const bool a_moves = plan.axes[0].a != 0;
        const T sum = a_moves ? reduce_all<Sum, T>(plan.size, f, Stream<T>{a}, Splat<T>{*b}, Stream<T>{full}...)
                              : reduce_all<Sum, T>(plan.size, f, Splat<T>{*a}, Stream<T>{b}, Stream<T>{full}...);
        slot.data[0] = slot.fresh ? sum : slot.data[0] + sum;
        return;
    }
    Tensor<T> all = Tensor<T>::empty(out_shape, pool);
    map_broadcast(plan, all.fresh_data(), f, a, b, full...);
    sum_to(all.data(), out_shape, slot, to);
}

// out (of shape `to`) = or += x (of shape `from`) repeated along the axes that broadcast: what sum_to is the gradient
// of, and the gradient of sum_to.
template <class T>
void repeat_into(const GradientSlot<T>& out, const Shape& to, const T* x, const Shape& from);

}  // namespace pollen::kernels
