#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// z = the smaller of x and y, NaN where one is NaN        dL/dx += dL/dz where x is z, half of it where x = y
template <Real T>
Var<T> minimum(Var<T> x, Var<T> y) {
    const auto share = [](auto mine, auto other, auto g) {
        const auto other_is_taken = xsimd::select(mine > other, Batch<T>(T(0)), g);
        return xsimd::select(mine == other, g * Batch<T>(T(0.5)), other_is_taken);
    };
    return binary(
        "minimum", x, y, [](auto u, auto v) { return xsimd::select(u < v || xsimd::isnan(u), u, v); },
        [share](auto u, auto v, auto g, auto) { return share(u, v, g); },
        [share](auto u, auto v, auto g, auto) { return share(v, u, g); });
}

POLLEN_INSTANTIATE_BINARY(minimum)

}  // namespace pollen
