#include <pollen/autograd/kernels/bits.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = -x        dL/dx -= dL/dy
template <Real T>
Var<T> neg(Var<T> x) {
    return unary(
        "neg", x, [](auto v) { return kernels::negative<T>(v); },
        [](auto g, auto, auto) { return kernels::negative<T>(g); });
}

POLLEN_INSTANTIATE_UNARY(neg)

}  // namespace pollen
