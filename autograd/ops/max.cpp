#include <pollen/autograd/ops/detail/extremum.hpp>

namespace pollen {

// y = the largest x along the axes        dL/dx += dL/dy / ties where x = y
template <Real T>
Var<T> max(Var<T> x, Axes axes, bool keepdims) {
    return extremum<kernels::Max>("max", "maximum", x, axes, keepdims);
}

template Var<float> max(Var<float>, Axes, bool);
template Var<double> max(Var<double>, Axes, bool);

}  // namespace pollen
