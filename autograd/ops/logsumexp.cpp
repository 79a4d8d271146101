#include <pollen/autograd/kernels/log.hpp>
#include <pollen/autograd/kernels/reduced.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = m + log sum exp(x - m) with m = max x        dL/dx += dL/dy exp(x - y)
//
// Where m is infinite, 0 takes its place: the logarithm of a sum of nothing but zeros is -inf, and inf stays inf. Where
// y is -inf, no x can change that by a finite amount, and the gradient is 0.
template <Real T>
Var<T> logsumexp(Var<T> x, Axes axes, bool keepdims) {
    using V = Batch<T>;
    const unsigned mask = axes.mask("logsumexp", x.rank());
    const Shape shape = reduced_shape(x.shape(), mask, keepdims);
    const auto evaluate = [mask, shape](const Tensor<T>& in, TapeState<T>& tape, T* y) {
        Tensor<T> shift = tape.empty(shape);
        kernels::reduce_axes<kernels::Max>(in.data(), in.shape(), mask, shift.fresh_data());
        kernels::map(
            shift.size(), shift.fresh_data(),
            [](const V& m) { return xsimd::select(xsimd::abs(m) < V(kernels::infinity<T>), m, V(0)); },
            Stream<T>{shift.data()});
        kernels::reduce_reduced<kernels::Sum>(
            kernels::ReducedPlan(in.shape(), mask), tape.pool(), y,
            [](const V& v, const V& m) { return kernels::exp(v - m); }, kernels::Full<T>{in.data()},
            kernels::Reduced<T>{shift.data()});
        kernels::map(
            shift.size(), y, [](const V& sum, const V& m) { return m + kernels::log(sum); }, Stream<T>{y},
            Stream<T>{shift.data()});
    };
    return apply("logsumexp", x, shape, evaluate, [mask](Backward<T>& b) {
        kernels::map_reduced_into(
            b.slot(0), kernels::ReducedPlan(b.input(0).shape(), mask),
            [](const V& v, const V& out, const V& g) {
                const auto nothing = out == V(-kernels::infinity<T>);
                return g * xsimd::select(nothing, V(0), kernels::exp(v - out));
            },
            kernels::Full<T>{b.input(0).data()}, kernels::Reduced<T>{b.value().data()}, kernels::Reduced<T>{b.grad()});
    });
}

template Var<float> logsumexp(Var<float>, Axes, bool);
template Var<double> logsumexp(Var<double>, Axes, bool);

}  // namespace pollen
