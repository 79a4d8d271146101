#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// z = x + y        dL/dx += dL/dz        dL/dy += dL/dz
template <Real T>
Var<T> add(Var<T> x, Var<T> y) {
    const auto pass = [](auto, auto, auto g, auto) { return g; };
    return binary(
        "add", x, y, [](auto u, auto v) { return u + v; }, pass, pass);
}

// y = x + c        dL/dx += dL/dy
template <Real T>
Var<T> add(Var<T> x, Number<T> c) {
    return unary(
        "add", x, [c](auto v) { return v + Batch<T>(c); }, [](auto g, auto, auto) { return g; });
}

POLLEN_INSTANTIATE_BINARY(add)
template Var<float> add(Var<float>, float);
template Var<double> add(Var<double>, double);

}  // namespace pollen
