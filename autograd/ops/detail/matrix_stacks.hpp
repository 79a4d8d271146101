#pragma once

#include <pollen/autograd/kernels/broadcast.hpp>

#include <algorithm>
#include <array>

// Ops on stacks of matrices: (..., n, m) is a stack of n x m matrices, and the stacks of two operands broadcast like
// elements do.
namespace pollen {

// The axes before the last `inner` ones.
inline Shape leading(const Shape& shape, int inner = 2) {
    return Shape(shape.sizes().first(static_cast<std::size_t>(std::max(0, shape.rank() - inner))));
}

// The axes of `stack` followed by more.
inline Shape with_axes(const Shape& stack, std::initializer_list<std::int64_t> more) {
    std::array<std::int64_t, max_rank> sizes{};
    const auto end = std::copy(stack.sizes().begin(), stack.sizes().end(), sizes.begin());
    std::copy(more.begin(), more.end(), end);
    return Shape(std::span<const std::int64_t>(sizes.data(), stack.sizes().size() + more.size()));
}

// Whose matrices a loop writes: one each of the result, or one each of an operand that may have been repeated.
enum class Owner { out, a, b };

// Calls body(out, a, b, first) for every matrix of the result with the positions of the three in their stacks. All that
// write to the same matrix of the owner follow each other in a fixed order, `first` being set for the first of them;
// different ones run in parallel where flops, the work on one matrix, is worth it.
template <class Body>
void for_each_matrix(const kernels::BroadcastPlan& plan, Owner owner, double flops, const Body& body) {
    struct Position {
        std::int64_t out = 0, a = 0, b = 0;
    };
    const auto written = [&](const kernels::BroadcastPlan::Axis& axis) {
        return owner == Owner::out || (owner == Owner::a ? axis.a : axis.b) != 0;
    };
    std::int64_t targets = 1, repeats = 1;
    for (int k = 0; k < plan.rank; ++k) {
        const auto& axis = plan.axes[static_cast<std::size_t>(k)];
        (written(axis) ? targets : repeats) *= axis.size;
    }
    const auto locate = [&](std::int64_t index, bool of_targets) {
        Position at;
        std::int64_t stride = 1;
        for (int k = plan.rank - 1; k >= 0; --k) {
            const auto& axis = plan.axes[static_cast<std::size_t>(k)];
            if (written(axis) == of_targets) {
                const std::int64_t i = index % axis.size;
                index /= axis.size;
                at.out += i * stride;
                at.a += i * axis.a;
                at.b += i * axis.b;
            }
            stride *= axis.size;
        }
        return at;
    };
    const double each = flops * static_cast<double>(repeats) + 100;
    const std::int64_t grain = std::max<std::int64_t>(1, static_cast<std::int64_t>(1.5e6 / each));
    parallel_for(targets, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t t = begin; t < end; ++t) {
            const Position base = locate(t, true);
            for (std::int64_t r = 0; r < repeats; ++r) {
                const Position more = locate(r, false);
                body(base.out + more.out, base.a + more.a, base.b + more.b, r == 0);
            }
        }
    });
}

}  // namespace pollen
