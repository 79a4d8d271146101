#include <pollen/autograd/ops/detail/elementwise.hpp>

#include <string>

namespace pollen {

// z = sum x_i y_i        dL/dx_i += dL/dz y_i        dL/dy_i += dL/dz x_i
template <Real T>
Var<T> dot(Var<T> x, Var<T> y) {
    const Tensor<T>&a = x.value(), &b = y.value();
    if (a.rank() != 1 || a.shape() != b.shape())
        throw ShapeError("dot: x " + to_string(a.shape()) + " by y " + to_string(b.shape()) +
                         "; two vectors of the same length are needed");
    Tensor<T> z = x.state().empty(Shape{});
    z.fresh_data()[0] = kernels::reduce_all<kernels::Sum, T>(
        a.size(), [](auto u, auto v) { return u * v; }, Stream<T>{a.data()}, Stream<T>{b.data()});
    return record("dot", {x, y}, std::move(z), [](Backward<T>& node) {
        const Splat<T> g{node.grad()[0]};
        const Tensor<T>&u = node.input(0), &v = node.input(1);
        const auto times = [](auto s, auto t) { return s * t; };
        kernels::map_into(node.slot(0), u.size(), times, g, Stream<T>{v.data()});
        kernels::map_into(node.slot(1), u.size(), times, g, Stream<T>{u.data()});
    });
}

POLLEN_INSTANTIATE_BINARY(dot)

}  // namespace pollen
