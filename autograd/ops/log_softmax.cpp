#include <pollen/autograd/math.hpp>
#include <pollen/autograd/ops/detail/softmax_rows.hpp>

namespace pollen {

namespace {

// (x - m) - log sum exp(x - m)
struct LogShare {
    template <class V>
    V operator()(const V& x, const V& m, const V& log_sum) const {
        return (x - m) - log_sum;
    }
};

template <class T>
void log_softmax_any(const Tensor<T>& x, int axis, TapeState<T>& tape, T* y) {
    const kernels::ReducedPlan plan(x.shape(), 1u << axis);
    const Shape left = reduced_shape(x.shape(), plan.mask, false);
    Tensor<T> top = tape.empty(left), sum = tape.empty(left);
    const kernels::Full<T> v{x.data()};
    const kernels::Reduced<T> m{top.data()}, log_sum{sum.data()};
    kernels::reduce_axes<kernels::Max>(x.data(), x.shape(), plan.mask, top.fresh_data());
    kernels::reduce_reduced<kernels::Sum>(plan, tape.pool(), sum.fresh_data(), ExpAbove{}, v, m);
    kernels::map(
        left.size(), sum.fresh_data(), [](auto s) { return kernels::log(s); }, Stream<T>{sum.data()});
    kernels::map_reduced(plan, y, LogShare{}, v, m, log_sum);
}

template <class T>
void log_softmax_row(std::int64_t n, const T* x, T* y) {
    const Splat<T> m{row_max(n, x)};
    const Splat<T> log_sum{math::log(kernels::reduce_serial<kernels::Sum, T>(n, ExpAbove{}, Stream<T>{x}, m))};
    kernels::map_serial(n, y, LogShare{}, Stream<T>{x}, m, log_sum);
}

}  // namespace

// y = x - log sum exp(x)        dL/dx += dL/dy - exp(y) sum dL/dy
template <Real T>
Var<T> log_softmax(Var<T> x, int axis) {
    const int k = normalize_axis("log_softmax", axis, x.rank());
    const auto evaluate = [k](const Tensor<T>& in, TapeState<T>& tape, T* y) {
        const AxisView view(in.shape(), k);
        const std::int64_t n = view.size;
        if (by_rows(view))
            for_rows(view.outer, n, [&](std::int64_t row) { log_softmax_row(n, in.data() + row * n, y + row * n); });
        else
            log_softmax_any(in, k, tape, y);
    };
    return apply("log_softmax", x, x.shape(), evaluate, [k](Backward<T>& b) {
        const GradientSlot<T> slot = b.slot(0);
        if (!slot) return;
        const Shape& shape = b.value().shape();
        const T *out = b.value().data(), *g = b.grad();
        const auto derivative = [](auto u, auto v, auto sum) { return v - kernels::exp(u) * sum; };
        const AxisView rows(shape, k);
        if (by_rows(rows)) {
            const std::int64_t n = rows.size;
            for_rows(rows.outer, n, [&](std::int64_t row) {
                kernels::map_into(row_of(slot, row * n), n, derivative, Stream<T>{out + row * n},
                                  Stream<T>{g + row * n}, Splat<T>{row_sum(n, g + row * n)});
            });
        } else {
            const kernels::ReducedPlan plan(shape, 1u << k);
            Tensor<T> sum = b.scratch(reduced_shape(shape, plan.mask, false));
            kernels::reduce_axes<kernels::Sum>(g, shape, plan.mask, sum.fresh_data());
            kernels::map_reduced_into(slot, plan, derivative, kernels::Full<T>{out}, kernels::Full<T>{g},
                                      kernels::Reduced<T>{sum.data()});
        }
    });
}

template Var<float> log_softmax(Var<float>, int);
template Var<double> log_softmax(Var<double>, int);

}  // namespace pollen
