#include <pollen/autograd/ops/detail/axis_view.hpp>
#include <pollen/autograd/ops/detail/share.hpp>

namespace pollen {

// y = x with a new axis of size 1        dL/dx += dL/dy
template <Real T>
Var<T> unsqueeze(Var<T> x, int axis) {
    return share("unsqueeze", x, with_axis(x.shape(), normalize_new_axis("unsqueeze", axis, x.rank()), 1));
}

template Var<float> unsqueeze(Var<float>, int);
template Var<double> unsqueeze(Var<double>, int);

}  // namespace pollen
