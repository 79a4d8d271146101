#include <pollen/autograd/kernels/lgamma.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = digamma(x)        dL/dx += dL/dy trigamma(x)
template <Real T>
Var<T> digamma(Var<T> x) {
    return unary(
        "digamma", x, [](auto v) { return kernels::digamma(v); },
        [](auto g, auto v, auto) { return g * kernels::trigamma(v); });
}

POLLEN_INSTANTIATE_UNARY(digamma)

}  // namespace pollen
