#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = sum of x over the axes        dL/dx += dL/dy, repeated along them
template <Real T>
Var<T> sum(Var<T> x, Axes axes, bool keepdims) {
    const Tensor<T>& in = x.value();
    const unsigned mask = axes.mask("sum", in.rank());
    Tensor<T> y = x.state().empty(reduced_shape(in.shape(), mask, keepdims));
    kernels::reduce_axes<kernels::Sum>(in.data(), in.shape(), mask, y.fresh_data());
    return record("sum", {x}, std::move(y), [mask](Backward<T>& b) {
        const Shape& shape = b.input(0).shape();
        kernels::repeat_into(b.slot(0), shape, b.grad(), reduced_shape(shape, mask, true));
    });
}

template Var<float> sum(Var<float>, Axes, bool);
template Var<double> sum(Var<double>, Axes, bool);

}  // namespace pollen
