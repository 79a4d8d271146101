#include <pollen/autograd/kernels/strided.hpp>

#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/kernels/transpose_tile.hpp>

namespace pollen::kernels {

namespace {

using Axis = StridedPlan::Axis;

// Sides of the tiles in which a transposition walks, so that what it reads and writes stays in the cache.
constexpr std::int64_t tile_side = 64;

// The axes of a plan but one or two: the loop around an inner kernel.
struct Outer {
    std::array<Axis, max_rank> axes;
    int rank = 0;
    std::int64_t size = 1;

    Outer(const StridedPlan& plan, int inner, int second = -1) {
        for (int k = 0; k < plan.rank; ++k) {
            if (k == inner || k == second) continue;
            axes[static_cast<std::size_t>(rank++)] = plan.axes[static_cast<std::size_t>(k)];
            size *= plan.axes[static_cast<std::size_t>(k)].size;
        }
    }

    // Calls body(from, to) with the offsets of steps [begin, end).
    template <class Body>
    void walk(std::int64_t begin, std::int64_t end, const Body& body) const {
        std::array<std::int64_t, max_rank> index{};
        std::int64_t from = 0, to = 0;
        std::int64_t left = begin;
        for (int k = rank - 1; k >= 0; --k) {
            const Axis& axis = axes[static_cast<std::size_t>(k)];
            index[static_cast<std::size_t>(k)] = left % axis.size;
            from += left % axis.size * axis.from;
            to += left % axis.size * axis.to;
            left /= axis.size;
        }
        for (std::int64_t step = begin; step < end; ++step) {
            body(from, to);
            for (int k = rank - 1; k >= 0; --k) {
                const Axis& axis = axes[static_cast<std::size_t>(k)];
                from += axis.from;
                to += axis.to;
                if (++index[static_cast<std::size_t>(k)] < axis.size) break;
                index[static_cast<std::size_t>(k)] = 0;
                from -= axis.size * axis.from;
                to -= axis.size * axis.to;
            }
        }
    }
};

template <class T>
void copy_run(std::int64_t n, const T* from, T* to, Write write) {
    map_into(GradientSlot<T>{to, write == Write::over}, n, Keep{}, Stream<T>{from});
}

template <class T, bool add>
void copy_loop(const Axis& axis, const T* from, T* to) {
    for (std::int64_t i = 0; i < axis.size; ++i) {
        T& target = to[i * axis.to];
        target = add ? target + from[i * axis.from] : from[i * axis.from];
    }
}

// The last axis is contiguous in what is written and `rows` in what is read.
template <class T, bool add>
void copy_transposed(const StridedPlan& plan, int rows_axis, const T* from, T* to) {
    const Axis& rows = plan.axes[static_cast<std::size_t>(rows_axis)];
    const Axis& columns = plan.axes[static_cast<std::size_t>(plan.rank - 1)];
    const Outer outer(plan, rows_axis, plan.rank - 1);
    const std::int64_t down = (rows.size + tile_side - 1) / tile_side;
    const std::int64_t across = (columns.size + tile_side - 1) / tile_side;
    const std::int64_t work = std::min(rows.size, tile_side) * std::min(columns.size, tile_side);
    const auto tile = [&](std::int64_t i, std::int64_t j, std::int64_t at_from, std::int64_t at_to) {
        transpose_tile<T, add>(from + at_from + j * columns.from + i, columns.from, to + at_to + i * rows.to + j,
                               rows.to, std::min(tile_side, rows.size - i), std::min(tile_side, columns.size - j));
    };
    const std::int64_t tiles = down * across, grain = grain_for(work);
    parallel_for(outer.size * tiles, grain, [&](std::int64_t begin, std::int64_t end) {
        if (tiles == 1)
            return outer.walk(begin, end,
                              [&](std::int64_t at_from, std::int64_t at_to) { tile(0, 0, at_from, at_to); });
        for (std::int64_t t = begin; t < end; ++t) {
            const std::int64_t i = t % tiles / across * tile_side, j = t % across * tile_side;
            outer.walk(t / tiles, t / tiles + 1,
                       [&](std::int64_t at_from, std::int64_t at_to) { tile(i, j, at_from, at_to); });
        }
    });
}

}  // namespace

void StridedPlan::push(std::int64_t n, std::int64_t from, std::int64_t to) {
    size *= n;
    if (n == 1) return;
    Axis* last = rank ? &axes[static_cast<std::size_t>(rank - 1)] : nullptr;
    if (last && last->from == n * from && last->to == n * to)
        *last = {last->size * n, from, to};
    else
        axes[static_cast<std::size_t>(rank++)] = {n, from, to};
}

std::array<std::int64_t, max_rank> strides(const Shape& shape) {
    std::array<std::int64_t, max_rank> steps{};
    std::int64_t step = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        steps[static_cast<std::size_t>(axis)] = step;
        step *= shape[axis];
    }
    return steps;
}

template <class T>
void copy_strided(const StridedPlan& plan, const T* from, T* to, Write write) {
    if (plan.size == 0) return;
    if (plan.contiguous()) return copy_run(plan.size, from, to, write);
    const int last = plan.rank - 1;
    const Axis& inner = plan.axes[static_cast<std::size_t>(last)];
    int read_fast = last;
    while (read_fast >= 0 && plan.axes[static_cast<std::size_t>(read_fast)].from != 1) --read_fast;
    if (inner.to == 1 && read_fast >= 0 && read_fast != last)
        return write == Write::add ? copy_transposed<T, true>(plan, read_fast, from, to)
                                   : copy_transposed<T, false>(plan, read_fast, from, to);
    const Outer outer(plan, last);
    const std::int64_t grain = grain_for(inner.size);
    parallel_for(outer.size, grain, [&](std::int64_t begin, std::int64_t end) {
        outer.walk(begin, end, [&](std::int64_t at_from, std::int64_t at_to) {
            if (inner.from == 1 && inner.to == 1 && inner.size >= 16)
                copy_run(inner.size, from + at_from, to + at_to, write);
            else if (write == Write::add)
                copy_loop<T, true>(inner, from + at_from, to + at_to);
            else
                copy_loop<T, false>(inner, from + at_from, to + at_to);
        });
    });
}

template <class T>
void copy_strided_into_part(const GradientSlot<T>& slot, std::int64_t slot_size, std::int64_t offset,
                            const StridedPlan& plan, const T* from) {
    if (!slot) return;
    if (slot.fresh && plan.size < slot_size) map(slot_size, slot.data, Keep{}, Splat<T>{0});
    copy_strided(plan, from, slot.data + offset, slot.fresh ? Write::over : Write::add);
}

#define POLLEN_INSTANTIATE(T)                                                                                    \
    template void copy_strided(const StridedPlan&, const T*, T*, Write);                                         \
    template void copy_strided_into_part(const GradientSlot<T>&, std::int64_t, std::int64_t, const StridedPlan&, \
                                         const T*);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::kernels
