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
    const kernels::ReducedPlan plan(in.shape(), mask);
    const std::int64_t n = plan.count();
    // NumPy's way with too few numbers: 0 / 0 is NaN.
    const T degrees = static_cast<T>(std::max<std::int64_t>(0, n - correction));

    Tensor<T> mean = x.state().empty(reduced_shape(in.shape(), mask, false));
    kernels::reduce_axes<kernels::Sum>(in.data(), in.shape(), mask, mean.fresh_data());
    kernels::map(
        mean.size(), mean.fresh_data(), [n](auto sum) { return sum / Batch<T>(static_cast<T>(n)); },
        Stream<T>{mean.data()});

    Tensor<T> y = x.state().empty(reduced_shape(in.shape(), mask, keepdims));
    const auto squared = [](auto v, auto m) { return (v - m) * (v - m); };
    kernels::reduce_reduced<kernels::Sum>(plan, x.state().pool(), y.fresh_data(), squared, kernels::Full<T>{in.data()},
                                          kernels::Reduced<T>{mean.data()});
    kernels::map(
        y.size(), y.fresh_data(), [degrees](auto sum) { return sum / Batch<T>(degrees); }, Stream<T>{y.data()});

    return record("var", {x}, std::move(y), [mask, degrees, mean = std::move(mean)](Backward<T>& b) {
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
