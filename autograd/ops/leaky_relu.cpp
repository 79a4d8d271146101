#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = x where x > 0, else slope x        dL/dx += dL/dy (1 where x > 0, else slope)
template <Real T>
Var<T> leaky_relu(Var<T> x, Number<T> slope) {
    const auto bend = [slope](auto v, auto w) { return xsimd::select(v > Batch<T>(T(0)), w, Batch<T>(slope) * w); };
    return unary(
        "leaky_relu", x, [bend](auto v) { return bend(v, v); }, [bend](auto g, auto v, auto) { return bend(v, g); });
}

template Var<float> leaky_relu(Var<float>, float);
template Var<double> leaky_relu(Var<double>, double);

}  // namespace pollen
