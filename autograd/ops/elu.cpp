#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = x where x > 0, else alpha (exp(x) - 1)        dL/dx += dL/dy (1 where x > 0, else y + alpha)
template <Real T>
Var<T> elu(Var<T> x, Number<T> alpha) {
    return unary(
        "elu", x, [alpha](auto v) { return xsimd::select(v > Batch<T>(T(0)), v, Batch<T>(alpha) * kernels::expm1(v)); },
        [alpha](auto g, auto v, auto y) { return xsimd::select(v > Batch<T>(T(0)), g, g * (y + Batch<T>(alpha))); });
}

template Var<float> elu(Var<float>, float);
template Var<double> elu(Var<double>, double);

}  // namespace pollen
