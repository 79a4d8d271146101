#include <pollen/autograd/kernels/log.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|))        dL/dx += dL/dy / (1 + exp(-x))
template <Real T>
Var<T> softplus(Var<T> x) {
    return unary(
        "softplus", x,
        [](auto v) {
            const Batch<T> zero(T(0));
            return xsimd::select(v > zero, v, zero) + kernels::log1p_exp_minus_abs(v);
        },
        [](auto g, auto v, auto) { return g * kernels::sigmoid(v); });
}

POLLEN_INSTANTIATE_UNARY(softplus)

}  // namespace pollen
