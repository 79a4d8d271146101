#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// z = x - y        dL/dx += dL/dz        dL/dy -= dL/dz
template <Real T>
Var<T> sub(Var<T> x, Var<T> y) {
    return binary(
        "sub", x, y, [](auto u, auto v) { return u - v; }, [](auto, auto, auto g, auto) { return g; },
        [](auto, auto, auto g, auto) { return -g; });
}

// y = c - x        dL/dx -= dL/dy
template <Real T>
Var<T> sub(Number<T> c, Var<T> x) {
    return unary(
        "sub", x, [c](auto v) { return Batch<T>(c) - v; }, [](auto g, auto, auto) { return -g; });
}

POLLEN_INSTANTIATE_BINARY(sub)
template Var<float> sub(float, Var<float>);
template Var<double> sub(double, Var<double>);

}  // namespace pollen
