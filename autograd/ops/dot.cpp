#include <pollen/autograd/ops/detail/elementwise.hpp>

#include <string>

namespace pollen {

// z = sum x_i y_i        dL/dx_i += dL/dz y_i        dL/dy_i += dL/dz x_i
template <Real T>
Var<T> dot(Var<T> x, Var<T> y) {
    const Shape &a = x.shape(), &b = y.shape();
    if (a.rank() != 1 || a != b)
        throw ShapeError("dot: x " + to_string(a) + " by y " + to_string(b) +
                         "; two vectors of the same length are needed");
    const auto forward = [](Forward<T>& node) {
        const Tensor<T>&u = node.input(0), &v = node.input(1);
        *node.value() = kernels::reduce_all<kernels::Sum, T>(
            u.size(), [](auto s, auto t) { return s * t; }, Stream<T>{u.data()}, Stream<T>{v.data()});
    };
    return record("dot", {x, y}, Shape{}, forward, [](Backward<T>& node) {
        const Splat<T> g{node.grad()[0]};
        const Tensor<T>&u = node.input(0), &v = node.input(1);
        const auto times = [](auto s, auto t) { return s * t; };
        kernels::map_into(node.slot(0), u.size(), times, g, Stream<T>{v.data()});
        kernels::map_into(node.slot(1), u.size(), times, g, Stream<T>{u.data()});
    });
}

POLLEN_INSTANTIATE_BINARY(dot)

}  // namespace pollen
