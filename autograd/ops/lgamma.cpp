#include <pollen/autograd/kernels/lgamma.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = log |Gamma(x)|        dL/dx += dL/dy digamma(x)
template <Real T>
Var<T> lgamma(Var<T> x) {
    return unary(
        "lgamma", x, [](auto v) { return kernels::lgamma(v); },
        [](auto g, auto v, auto) { return g * kernels::digamma(v); });
}

POLLEN_INSTANTIATE_UNARY(lgamma)

}  // namespace pollen
