#include <pollen/autograd/kernels/gemm.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

#include <string>

namespace pollen {

// Z_ij = x_i y_j        dL/dx += dL/dZ y        dL/dy += (dL/dZ)' x
template <Real T>
Var<T> outer(Var<T> x, Var<T> y) {
    const Shape &a = x.shape(), &b = y.shape();
    if (a.rank() != 1 || b.rank() != 1)
        throw ShapeError("outer: x " + to_string(a) + " by y " + to_string(b) + "; two vectors are needed");
    const std::int64_t n = a.size(), m = b.size();
    const auto forward = [n, m](Forward<T>& node) {
        const kernels::BroadcastPlan plan(Shape{n, 1}, Shape{m}, node.shape());
        kernels::map_broadcast(
            plan, node.value(), [](auto u, auto v) { return u * v; }, node.input(0).data(), node.input(1).data());
    };
    return record("outer", {x, y}, Shape{n, m}, forward, [n, m](Backward<T>& node) {
        if (const GradientSlot<T> dx = node.slot(0))
            kernels::gemm(false, false, n, std::int64_t{1}, m, T(1), node.grad(), node.input(1).data(),
                          dx.fresh ? T(0) : T(1), dx.data);
        if (const GradientSlot<T> dy = node.slot(1))
            kernels::gemm(false, false, std::int64_t{1}, m, n, T(1), node.input(0).data(), node.grad(),
                          dy.fresh ? T(0) : T(1), dy.data);
    });
}

POLLEN_INSTANTIATE_BINARY(outer)

}  // namespace pollen
