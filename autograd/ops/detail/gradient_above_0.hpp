#pragma once

#include <pollen/autograd/kernels/map.hpp>

namespace pollen {

// For an op whose value is max(z, 0): dL/dz, which is dL/d(value) where the value is above 0 or NaN, and 0 elsewhere.
// It takes the place of dL/d(value) if that may be changed, or else is in `room`.
template <Real T>
const T* gradient_above_0(Backward<T>& b, Tensor<T>& room) {
    const Tensor<T>& y = b.value();
    T* to = b.spare_grad();
    if (!to) to = (room = b.scratch(y.shape())).fresh_data();
    kernels::map(y.size(), to, kernels::WhereAbove{}, kernels::Stream<T>{y.data()}, kernels::Stream<T>{b.grad()});
    return to;
}

}  // namespace pollen
