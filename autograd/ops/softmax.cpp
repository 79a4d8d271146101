#include <pollen/autograd/ops/detail/softmax_rows.hpp>

namespace pollen {

namespace {

// y = exp(x - m) / sum exp(x - m) with m = max x, for any axis
template <class T>
void softmax_any(const Tensor<T>& x, int axis, TapeState<T>& tape, T* y) {
    const kernels::ReducedPlan plan(x.shape(), 1u << axis);
    Tensor<T> held = tape.empty(reduced_shape(x.shape(), plan.mask, false));
    kernels::reduce_axes<kernels::Max>(x.data(), x.shape(), plan.mask, held.fresh_data());
    kernels::map_reduced(plan, y, ExpAbove{}, kernels::Full<T>{x.data()}, kernels::Reduced<T>{held.data()});
    kernels::reduce_axes<kernels::Sum>(y, x.shape(), plan.mask, held.fresh_data());
    kernels::map_reduced(
        plan, y, [](auto e, auto sum) { return e / sum; }, kernels::Full<T>{y}, kernels::Reduced<T>{held.data()});
}

// The same for one row.
template <class T>
void softmax_row(std::int64_t n, const T* x, T* y) {
    kernels::map_serial(n, y, ExpAbove{}, Stream<T>{x}, Splat<T>{row_max(n, x)});
    const T sum = row_sum(n, y);
    kernels::map_serial(
        n, y, [](auto e, auto s) { return e / s; }, Stream<T>{y}, Splat<T>{sum});
}

}  // namespace

// y = exp(x) / sum exp(x)        dL/dx += y (dL/dy - sum y dL/dy)
template <Real T>
Var<T> softmax(Var<T> x, int axis) {
    const int k = normalize_axis("softmax", axis, x.rank());
    const auto evaluate = [k](const Tensor<T>& in, TapeState<T>& tape, T* y) {
        const AxisView view(in.shape(), k);
        const std::int64_t n = view.size;
        if (by_rows(view))
            for_rows(view.outer, n, [&](std::int64_t row) { softmax_row(n, in.data() + row * n, y + row * n); });
        else
            softmax_any(in, k, tape, y);
    };
    return apply("softmax", x, x.shape(), evaluate, [k](Backward<T>& b) {
        const GradientSlot<T> slot = b.slot(0);
        if (!slot) return;
        const Shape& shape = b.value().shape();
        const T *p = b.value().data(), *g = b.grad();
        const auto product = [](auto u, auto v) { return u * v; };
        const auto derivative = [](auto u, auto v, auto sum) { return u * (v - sum); };
        const AxisView rows(shape, k);
        if (by_rows(rows)) {
            const std::int64_t n = rows.size;
            for_rows(rows.outer, n, [&](std::int64_t row) {
                const Stream<T> u{p + row * n}, v{g + row * n};
                const Splat<T> sum{kernels::reduce_serial<kernels::Sum, T>(n, product, u, v)};
                kernels::map_into(row_of(slot, row * n), n, derivative, u, v, sum);
            });
        } else {
            const kernels::ReducedPlan plan(shape, 1u << k);
            Tensor<T> sum = b.scratch(reduced_shape(shape, plan.mask, false));
            kernels::reduce_reduced<kernels::Sum>(plan, b.pool(), sum.fresh_data(), product, kernels::Full<T>{p},
                                                  kernels::Full<T>{g});
            kernels::map_reduced_into(slot, plan, derivative, kernels::Full<T>{p}, kernels::Full<T>{g},
                                      kernels::Reduced<T>{sum.data()});
        }
    });
}

template Var<float> softmax(Var<float>, int);
template Var<double> softmax(Var<double>, int);

}  // namespace pollen
