#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = x repeated to a larger shape        dL/dx += dL/dy, summed over the axes along which x was repeated
template <Real T>
Var<T> broadcast_to(Var<T> x, const Shape& shape) {
    if (!broadcasts_to(x.shape(), shape))
        throw ShapeError("broadcast_to: x " + to_string(x.shape()) + " does not broadcast to " + to_string(shape) +
                         "; aligned at the last axis, each size of x must be 1 or the same");
    return record(
        "broadcast_to", {x}, shape,
        [](Forward<T>& node) {
            const Tensor<T>& in = node.input(0);
            kernels::repeat_into(GradientSlot<T>{node.value(), true}, node.shape(), in.data(), in.shape());
        },
        [](Backward<T>& b) { kernels::sum_to(b.grad(), b.value().shape(), b.slot(0), b.input(0).shape()); });
}

template Var<float> broadcast_to(Var<float>, const Shape&);
template Var<double> broadcast_to(Var<double>, const Shape&);

}  // namespace pollen
