#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// z = x y        dL/dx += dL/dz y        dL/dy += dL/dz x
template <Real T>
Var<T> mul(Var<T> x, Var<T> y) {
    return binary(
        "mul", x, y, [](auto u, auto v) { return u * v; }, [](auto, auto v, auto g, auto) { return g * v; },
        [](auto u, auto, auto g, auto) { return g * u; });
}

// y = c x        dL/dx += dL/dy c
template <Real T>
Var<T> mul(Var<T> x, Number<T> c) {
    return unary(
        "mul", x, [c](auto v) { return v * Batch<T>(c); }, [c](auto g, auto, auto) { return g * Batch<T>(c); });
}

POLLEN_INSTANTIATE_BINARY(mul)
template Var<float> mul(Var<float>, float);
template Var<double> mul(Var<double>, double);

}  // namespace pollen
