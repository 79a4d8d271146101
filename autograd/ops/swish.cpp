#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/ops/elementwise.hpp>

namespace pollen {

// y = x s, s = sigmoid(x)        dL/dx += dL/dy s (1 + x (1 - s))
//
// At -infinity both have their limit, 0: the factor x is cut off where s is 0 anyway.
template <Real T>
Var<T> swish(Var<T> x) {
    constexpr T bound = -2 * kernels::ExpConstants<T>::lowest;
    return unary(
        "swish", x, [](auto v) { return xsimd::max(Batch<T>(-bound), v) * kernels::sigmoid(v); },
        [](auto g, auto v, auto) {
            const Batch<T> one(T(1)), s = kernels::sigmoid(v);
            return g * s * xsimd::fma(kernels::between(v, -bound, bound), Batch<T>(one - s), one);
        });
}

POLLEN_INSTANTIATE_UNARY(swish)

}  // namespace pollen
