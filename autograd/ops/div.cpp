#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// z = x / y        dL/dx += dL/dz / y        dL/dy -= dL/dz z / y
template <Real T>
Var<T> div(Var<T> x, Var<T> y) {
    return binary(
        "div", x, y, [](auto u, auto v) { return u / v; }, [](auto, auto v, auto g, auto) { return g / v; },
        [](auto, auto v, auto g, auto z) { return -g * (z / v); });
}

// y = c / x        dL/dx -= dL/dy y / x
template <Real T>
Var<T> div(Number<T> c, Var<T> x) {
    return unary(
        "div", x, [c](auto v) { return Batch<T>(c) / v; }, [](auto g, auto v, auto y) { return -g * (y / v); });
}

POLLEN_INSTANTIATE_BINARY(div)
template Var<float> div(float, Var<float>);
template Var<double> div(double, Var<double>);

}  // namespace pollen
