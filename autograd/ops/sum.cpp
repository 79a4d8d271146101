#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = sum of x over the axes        dL/dx += dL/dy, repeated along them
template <Real T>
Var<T> sum(Var<T> x, Axes axes, bool keepdims) {
    const unsigned mask = axes.mask("sum", x.rank());
    return apply(
        "sum", x, reduced_shape(x.shape(), mask, keepdims),
        [mask](const Tensor<T>& in, TapeState<T>&, T* y) {
            kernels::reduce_axes<kernels::Sum>(in.data(), in.shape(), mask, y);
        },
        [mask](Backward<T>& b) {
            const Shape& shape = b.input(0).shape();
            kernels::repeat_into(b.slot(0), shape, b.grad(), reduced_shape(shape, mask, true));
        });
}

template Var<float> sum(Var<float>, Axes, bool);
template Var<double> sum(Var<double>, Axes, bool);

}  // namespace pollen
