#include <pollen/autograd/kernels/reduced.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = sum (x - m)^2 / (n - c) with the mean m        dL/dx += dL/dy 2 (x - m) / (n - c)        keeps m
//
// In two passes, the mean first: sum x^2 - n m^2 would lose all digits where the mean is large.
template <Real T>
Var<T> var(Var<T> x, Axes axes, bool keepdims, int correction) {
    const Tensor<T>& in = x.value();
    const unsigned mask = axes.mask("var", in.rank());
    const std::int64_t n = kernels::ReducedPlan(in.shape(), mask).count();
    // NumPy's way with too few numbers: 0 / 0 is NaN.
    const T degrees = static_cast<T>(std::max<std::int64_t>(0, n - correction));

    Tensor<T> mean = x.state().empty(reduced_shape(in.shape(), mask, false));
    const auto forward = [mask, n, degrees, m = mean.fresh_data()](Forward<T>& node) {
        const Tensor<T>& v = node.input(0);
        const kernels::ReducedPlan plan(v.shape(), mask);
        const std::int64_t size = node.shape().size();
        kernels::reduce_axes<kernels::Sum>(v.data(), v.shape(), mask, m);
        kernels::map(
            size, m, [n](auto sum) { return sum / Batch<T>(static_cast<T>(n)); }, Stream<T>{m});
        T* y = node.value();
        const auto squared = [](auto u, auto w) { return (u - w) * (u - w); };
        kernels::reduce_reduced<kernels::Sum>(plan, node.pool(), y, squared, kernels::Full<T>{v.data()},
                                              kernels::Reduced<T>{m});
        kernels::map(
            size, y, [degrees](auto sum) { return sum / Batch<T>(degrees); }, Stream<T>{y});
    };
    const Shape shape = reduced_shape(in.shape(), mask, keepdims);
    return record("var", {x}, shape, forward, [mask, degrees, mean = std::move(mean)](Backward<T>& b) {
        const T scale = T(2) / degrees;
        kernels::map_reduced_into(
            b.slot(0), kernels::ReducedPlan(b.input(0).shape(), mask),
            [scale](auto v, auto m, auto g) { return g * (Batch<T>(scale) * (v - m)); },
            kernels::Full<T>{b.input(0).data()}, kernels::Reduced<T>{mean.data()}, kernels::Reduced<T>{b.grad()});
    });
}

template Var<float> var(Var<float>, Axes, bool, int);
template Var<double> var(Var<double>, Axes, bool, int);

}  // namespace pollen
