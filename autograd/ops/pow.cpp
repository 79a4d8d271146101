#include <pollen/autograd/kernels/pow.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// z = x^y        dL/dx += dL/dz y x^(y - 1)        dL/dy += dL/dz z log(x)
//
// Where a formula is undefined but a limit is not, the gradient is the limit: x^0 does not depend on x, and 0^y not on
// y for y >= 0. A negative x has powers for whole y alone, so there is no derivative in y: NaN.
template <Real T>
Var<T> pow(Var<T> x, Var<T> y) {
    return binary(
        "pow", x, y, [](auto u, auto v) { return kernels::pow(u, v); },
        [](auto u, auto v, auto g, auto) {
            const Batch<T> zero(T(0)), slope = v * kernels::pow<T>(u, v - Batch<T>(T(1)));
            return xsimd::select(v == zero, zero, g * slope);
        },
        [](auto u, auto v, auto g, auto z) {
            const Batch<T> zero(T(0));
            return xsimd::select(u == zero && v >= zero, zero, g * z * kernels::log(u));
        });
}

// y = x^c        dL/dx += dL/dy c x^(c - 1)
template <Real T>
Var<T> pow(Var<T> x, Number<T> c) {
    if (c == T(2))
        return unary(
            "pow", x, [](auto v) { return v * v; }, [](auto g, auto v, auto) { return g * (v + v); });
    if (c == T(0))
        return unary(
            "pow", x, [](auto) { return Batch<T>(T(1)); }, [](auto, auto, auto) { return Batch<T>(T(0)); });
    return unary(
        "pow", x, [c](auto v) { return kernels::pow(v, Batch<T>(c)); },
        [c](auto g, auto v, auto) { return g * Batch<T>(c) * kernels::pow(v, Batch<T>(c - T(1))); });
}

POLLEN_INSTANTIATE_BINARY(pow)
template Var<float> pow(Var<float>, float);
template Var<double> pow(Var<double>, double);

}  // namespace pollen
