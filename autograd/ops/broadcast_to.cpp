#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = x repeated to a larger shape        dL/dx += dL/dy, summed over the axes along which x was repeated
template <Real T>
Var<T> broadcast_to(Var<T> x, const Shape& shape) {
    const Tensor<T>& in = x.value();
    if (!broadcasts_to(in.shape(), shape))
        throw ShapeError("broadcast_to: x " + to_string(in.shape()) + " does not broadcast to " + to_string(shape) +
                         "; aligned at the last axis, each size of x must be 1 or the same");
    Tensor<T> y = x.state().empty(shape);
    kernels::repeat_into(GradientSlot<T>{y.fresh_data(), true}, shape, in.data(), in.shape());
    return record("broadcast_to", {x}, std::move(y),
                  [](Backward<T>& b) { kernels::sum_to(b.grad(), b.value().shape(), b.slot(0), b.input(0).shape()); });
}

template Var<float> broadcast_to(Var<float>, const Shape&);
template Var<double> broadcast_to(Var<double>, const Shape&);

}  // namespace pollen
