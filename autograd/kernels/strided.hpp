#pragma once

#include <pollen/autograd/shape.hpp>
#include <pollen/autograd/tape.hpp>

#include <array>
#include <cstdint>

// Copies between blocks of numbers that lie differently in memory: what permute, slice, pad and concat are made of.
namespace pollen::kernels {

// The axes of a block, the outermost first, and how far one step along each goes in the array read and in the array
// written. Axes of size 1 are left out and neighbours that can be walked as one axis are merged.
struct StridedPlan {
    struct Axis {
        std::int64_t size;
        std::int64_t from;
        std::int64_t to;
    };
    std::array<Axis, max_rank> axes;
    int rank = 0;
    std::int64_t size = 1;

    void push(std::int64_t n, std::int64_t from, std::int64_t to);

    // Whether both arrays hold the block in one piece, in the same order.
    bool contiguous() const { return rank == 0 || (rank == 1 && axes[0].from == 1 && axes[0].to == 1); }
};

// The strides of a row-major tensor.
std::array<std::int64_t, max_rank> strides(const Shape& shape);

// to = from over the block, or to += from. The strides of `to` must not grow from an axis to the next.
enum class Write { over, add };
template <class T>
void copy_strided(const StridedPlan& plan, const T* from, T* to, Write write = Write::over);

// The block is all of dL/dx.
template <class T>
void copy_strided_into(const GradientSlot<T>& slot, const StridedPlan& plan, const T* from) {
    if (slot) copy_strided(plan, from, slot.data, slot.fresh ? Write::over : Write::add);
}

// The block is a part of dL/dx, from slot.data + offset on; the rest gets nothing.
template <class T>
void copy_strided_into_part(const GradientSlot<T>& slot, std::int64_t slot_size, std::int64_t offset,
                            const StridedPlan& plan, const T* from);

}  // namespace pollen::kernels
