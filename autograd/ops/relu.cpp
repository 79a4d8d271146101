#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = max(x, 0)        dL/dx += dL/dy where x > 0        NaN passes, and so does its gradient
template <Real T>
Var<T> relu(Var<T> x) {
    const kernels::WhereAbove above;
    return unary("relu", x, above, [above](auto g, auto v, auto) { return above(v, g); });
}

POLLEN_INSTANTIATE_UNARY(relu)

}  // namespace pollen
