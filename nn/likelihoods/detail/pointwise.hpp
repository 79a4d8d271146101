#pragma once

#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/autograd/ops.hpp>

// A log likelihood is a sum over numbers that do not know of each other. It is one node of the tape: the sum, and the
// slopes dL/d(output), computed along with it and kept for the way back.
namespace pollen {

using kernels::Batch;
using kernels::Splat;
using kernels::Stream;

struct Times {
    template <class V>
    V operator()(const V& a, const V& b) const {
        return a * b;
    }
};

// The node of L, where slope = dL/d(outputs); an empty one where no gradient is wanted.
template <Real T>
Var<T> record_sum(const char* name, Var<T> outputs, double sum, Tensor<T>&& slope) {
    Tensor<T> value = outputs.state().empty(Shape{});
    value.fresh_data()[0] = static_cast<T>(sum);
    return record(name, {outputs}, std::move(value), [slope = std::move(slope)](Backward<T>& b) {
        kernels::map_into(b.slot(0), slope.size(), Times{}, Stream<T>{slope.data()}, Splat<T>{b.grad()[0]});
    });
}

// The same with a second input, one number p that all items share: p_slope = dL/dp.
template <Real T>
Var<T> record_sum(const char* name, Var<T> outputs, Var<T> p, double sum, Tensor<T>&& slope, T p_slope) {
    Tensor<T> value = outputs.state().empty(Shape{});
    value.fresh_data()[0] = static_cast<T>(sum);
    return record(name, {outputs, p}, std::move(value), [slope = std::move(slope), p_slope](Backward<T>& b) {
        const Splat<T> g{b.grad()[0]};
        kernels::map_into(b.slot(0), slope.size(), Times{}, Stream<T>{slope.data()}, g);
        kernels::map_into(b.slot(1), 1, Times{}, Splat<T>{p_slope}, g);
    });
}

// sum_i f(in[i]...) + n constant. The second part, which may be much larger, is added in double.
template <Real T, class F, class... In>
double sum_with_constant(std::int64_t n, double constant, const F& f, const In&... in) {
    return static_cast<double>(kernels::reduce_all<kernels::Sum, T>(n, f, in...)) + static_cast<double>(n) * constant;
}

// d(in[i]...) for every output, where a gradient will be asked for.
template <Real T, class D, class... In>
Tensor<T> slopes(Var<T> outputs, const D& d, const In&... in) {
    if (!outputs.needs_grad()) return {};
    Tensor<T> slope = outputs.state().empty(outputs.shape());
    kernels::map(slope.size(), slope.fresh_data(), d, in...);
    return slope;
}

// L = sum_i f(x_i, y_i), dL/dx_i = d(x_i, y_i)
template <Real T, class F, class D>
Var<T> pointwise(const char* name, Var<T> outputs, const T* targets, const F& f, const D& d) {
    const Stream<T> x{outputs.value().data()}, y{targets};
    const double sum = sum_with_constant<T>(outputs.size(), 0, f, x, y);
    return record_sum(name, outputs, sum, slopes(outputs, d, x, y));
}

}  // namespace pollen
