#include <pollen/autograd/kernels/erf.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = erf(x) = 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x        dL/dx += dL/dy 2 / sqrt(pi) exp(-x^2)
template <Real T>
Var<T> erf(Var<T> x) {
    return unary(
        "erf", x, [](auto v) { return kernels::erf(v); },
        [](auto g, auto v, auto) {
            const Batch<T> two_over_root_pi(T(1.12837916709551257390));
            return g * two_over_root_pi * kernels::exp<T>(-v * v);
        });
}

POLLEN_INSTANTIATE_UNARY(erf)

}  // namespace pollen
