#pragma once

#include <pollen/autograd/kernels/strided.hpp>
#include <pollen/autograd/ops.hpp>

#include <string>

namespace pollen {

// concat and stack: the parts and the result are seen as (outer, length) and the parts' rows are laid end to end.
//
// y_i = [x0_i, x1_i, ...]        dL/dxk_i += the part of dL/dy_i that came from xk
template <Real T>
Var<T> join(const char* name, std::span<const Var<T>> parts, const Shape& shape, std::int64_t outer) {
    TapeState<T>& state = parts[0].state();
    Tensor<T> y = state.empty(shape);
    if (y.size() == 0)
        return state.record(
            name, parts, std::move(y), [](Forward<T>&) {}, [](Backward<T>&) {});
    const std::int64_t row = y.size() / outer;
    // Puts a part into its place, and returns the place of the next.
    const auto put = [outer, row](const Tensor<T>& part, T* to) {
        const std::int64_t length = part.size() / outer;
        kernels::StridedPlan plan;
        plan.push(outer, length, row);
        plan.push(length, 1, 1);
        kernels::copy_strided(plan, part.data(), to);
        return to + length;
    };
    T* to = y.fresh_data();
    for (const Var<T>& part : parts) to = put(part.value(), to);
    const auto forward = [put](Forward<T>& node) {
        T* place = node.value();
        for (int k = 0; k < node.input_count(); ++k) place = put(node.input(k), place);
    };
    return state.record(name, parts, std::move(y), forward, [outer, row](Backward<T>& b) {
        std::int64_t from = 0;
        for (int k = 0; k < b.input_count(); ++k) {
            const std::int64_t length = b.input(k).size() / outer;
            kernels::StridedPlan plan;
            plan.push(outer, row, length);
            plan.push(length, 1, 1);
            kernels::copy_strided_into(b.slot(k), plan, b.grad() + from);
            from += length;
        }
    });
}

inline void require_parts(const char* name, std::size_t count) {
    if (count == 0) throw ShapeError(std::string(name) + ": no parts are given; at least one is needed");
}

}  // namespace pollen
