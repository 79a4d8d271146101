#include <pollen/autograd/ops/detail/extremum.hpp>

namespace pollen {

// y = the smallest x along the axes        dL/dx += dL/dy / ties where x = y
template <Real T>
Var<T> min(Var<T> x, Axes axes, bool keepdims) {
    return extremum<kernels::Min>("min", "minimum", x, axes, keepdims);
}

template Var<float> min(Var<float>, Axes, bool);
template Var<double> min(Var<double>, Axes, bool);

}  // namespace pollen
