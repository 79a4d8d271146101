#include <pollen/autograd/kernels/broadcast.hpp>

namespace pollen::kernels {

void BroadcastPlan::merge_axes(const Shape& a, const Shape& b, const Shape& out) {
    std::int64_t stride_a = 1, stride_b = 1;
    std::array<Axis, max_rank> reversed;  // the last axis first
    for (int back = 0; back < out.rank(); ++back) {
        const std::int64_t n = out[out.rank() - 1 - back];
        if (n == 1) continue;
        const bool moves_a = back < a.rank() && a[a.rank() - 1 - back] != 1;
        const bool moves_b = back < b.rank() && b[b.rank() - 1 - back] != 1;
        Axis* last = rank ? &reversed[static_cast<std::size_t>(rank - 1)] : nullptr;
        if (last && (last->a != 0) == moves_a && (last->b != 0) == moves_b)
            last->size *= n;
        else
            reversed[static_cast<std::size_t>(rank++)] = {n, moves_a ? stride_a : 0, moves_b ? stride_b : 0};
        if (moves_a) stride_a *= n;
        if (moves_b) stride_b *= n;
    }
    if (rank == 0) reversed[static_cast<std::size_t>(rank++)] = {1, 1, 1};
    for (int k = 0; k < rank; ++k) axes[static_cast<std::size_t>(k)] = reversed[static_cast<std::size_t>(rank - 1 - k)];
}

template <class T>
NarrowOperand<T>::NarrowOperand(const BroadcastPlan& plan, std::int64_t BroadcastPlan::Axis::*stride, const T* data)
    : plan_(plan), stride_(stride), data_(data) {
    for (int k = 0; k < plan.rank; ++k) {
        const bool moves = plan.axes[static_cast<std::size_t>(k)].*stride != 0;
        whole_ = whole_ && moves;
        periodic_ = periodic_ && (!moves || k == plan.rank - 1);
    }
}

template <class T>
void NarrowOperand<T>::write(std::int64_t first, std::int64_t rows) {
    const std::int64_t n = plan_.inner().size;
    const bool moves = plan_.inner().*stride_ != 0, second = stride_ == &BroadcastPlan::Axis::b;
    RowWalk walk(plan_, first);
    T* out = held_;
    for (std::int64_t row = 0; row < rows; ++row, walk.next()) {
        const T* from = data_ + (second ? walk.b : walk.a);
        if (moves)
            for (std::int64_t j = 0; j < n; ++j) *out++ = from[j];
        else
            for (std::int64_t j = 0; j < n; ++j) *out++ = *from;
    }
    written_ = rows;
}

template class NarrowOperand<float>;
template class NarrowOperand<double>;

template <class T>
void repeat_into(const GradientSlot<T>& out, const Shape& to, const T* x, const Shape& from) {
    if (!out) return;
    if (from.size() == 1) return map_into(out, to.size(), Keep{}, Splat<T>{*x});
    if (from.size() == to.size()) return map_into(out, to.size(), Keep{}, Stream<T>{x});
    // The output takes the place of the second operand, which is full-sized: only its old contents matter, or not.
    const BroadcastPlan plan(from, to, to);
    if (out.fresh)
        map_broadcast(
            plan, out.data, [](const Batch<T>& v, const Batch<T>&) { return v; }, x, out.data);
    else
        map_broadcast(
            plan, out.data, [](const Batch<T>& v, const Batch<T>& old) { return v + old; }, x, out.data);
}

template void repeat_into(const GradientSlot<float>&, const Shape&, const float*, const Shape&);
template void repeat_into(const GradientSlot<double>&, const Shape&, const double*, const Shape&);

}  // namespace pollen::kernels
