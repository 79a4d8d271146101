#pragma once

#include <pollen/autograd/kernels/reduced.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

#include <string>

namespace pollen {

// Where x is the y that was chosen. NaN is chosen before all else.
template <class V>
auto is_chosen(const V& x, const V& y) {
    return x == y || (xsimd::isnan(x) && xsimd::isnan(y));
}

// max and min: y = Op over the axes        dL/dx += dL/dy / (number of x that equal y) where x = y
template <class Op, Real T>
Var<T> extremum(const char* name, const char* noun, Var<T> x, Axes axes, bool keepdims) {
    const Tensor<T>& in = x.value();
    const unsigned mask = axes.mask(name, in.rank());
    for (int axis = 0; axis < in.rank(); ++axis) {
        if (((mask >> axis) & 1u) && in.shape()[axis] == 0)
            throw ShapeError(std::string(name) + ": x " + to_string(in.shape()) + " has no entries along axis " +
                             std::to_string(axis) + "; the " + noun + " of nothing is not defined");
    }
    const auto evaluate = [mask](const Tensor<T>& v, TapeState<T>&, T* y) {
        kernels::reduce_axes<Op>(v.data(), v.shape(), mask, y);
    };
    return apply(name, x, reduced_shape(in.shape(), mask, keepdims), evaluate, [mask](Backward<T>& b) {
        const kernels::ReducedPlan plan(b.input(0).shape(), mask);
        const kernels::Full<T> v{b.input(0).data()};
        const kernels::Reduced<T> chosen{b.value().data()};
        Tensor<T> share = b.scratch(b.value().shape());
        kernels::reduce_reduced<kernels::Sum>(
            plan, b.pool(), share.fresh_data(),
            [](const Batch<T>& u, const Batch<T>& w) {
                return xsimd::select(is_chosen(u, w), Batch<T>(1), Batch<T>(0));
            },
            v, chosen);
        kernels::map(
            share.size(), share.fresh_data(), [](auto g, auto ties) { return g / ties; }, Stream<T>{b.grad()},
            Stream<T>{share.data()});
        kernels::map_reduced_into(
            b.slot(0), plan,
            [](const Batch<T>& u, const Batch<T>& w, const Batch<T>& g) {
                return xsimd::select(is_chosen(u, w), g, Batch<T>(0));
            },
            v, chosen, kernels::Reduced<T>{share.data()});
    });
}

}  // namespace pollen
