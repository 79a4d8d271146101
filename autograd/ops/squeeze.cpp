#include <pollen/autograd/ops/detail/share.hpp>

#include <string>

namespace pollen {

// y = x without axes of size 1        dL/dx += dL/dy
template <Real T>
Var<T> squeeze(Var<T> x, Axes axes) {
    const Shape& shape = x.shape();
    unsigned mask = axes.mask("squeeze", shape.rank());
    for (int axis = 0; axis < shape.rank(); ++axis) {
        if (!((mask >> axis) & 1u) || shape[axis] == 1) continue;
        if (!axes.all())
            throw ShapeError("squeeze: axis " + std::to_string(axis) + " of x " + to_string(shape) + " has size " +
                             std::to_string(shape[axis]) + "; only axes of size 1 can be dropped");
        mask &= ~(1u << axis);
    }
    return share("squeeze", x, reduced_shape(shape, mask, false));
}

template Var<float> squeeze(Var<float>, Axes);
template Var<double> squeeze(Var<double>, Axes);

}  // namespace pollen
