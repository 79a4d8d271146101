#include <pollen/autograd/kernels/reduced.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = sum of x over the axes / n        dL/dx += dL/dy / n, repeated along them
template <Real T>
Var<T> mean(Var<T> x, Axes axes, bool keepdims) {
    const unsigned mask = axes.mask("mean", x.rank());
    const Shape shape = reduced_shape(x.shape(), mask, keepdims);
    const auto evaluate = [mask, size = shape.size()](const Tensor<T>& in, TapeState<T>&, T* y) {
        kernels::reduce_axes<kernels::Sum>(in.data(), in.shape(), mask, y);
        const T n = static_cast<T>(kernels::reduced_count(in.shape(), mask));
        kernels::map(
            size, y, [n](auto sum) { return sum / Batch<T>(n); }, Stream<T>{y});
    };
    return apply("mean", x, shape, evaluate, [mask](Backward<T>& b) {
        const kernels::ReducedPlan plan(b.input(0).shape(), mask);
        const T share = T(1) / static_cast<T>(plan.count());
        kernels::map_reduced_into(
            b.slot(0), plan, [share](auto g) { return g * Batch<T>(share); }, kernels::Reduced<T>{b.grad()});
    });
}

template Var<float> mean(Var<float>, Axes, bool);
template Var<double> mean(Var<double>, Axes, bool);

}  // namespace pollen
