#include <pollen/autograd/kernels/log.hpp>
#include <pollen/autograd/ops/detail/elementwise.hpp>

namespace pollen {

// y = log(x)        dL/dx += dL/dy / x
template <Real T>
Var<T> log(Var<T> x) {
    return unary(
        "log", x, [](auto v) { return kernels::log(v); }, [](auto g, auto v, auto) { return g / v; });
}

POLLEN_INSTANTIATE_UNARY(log)

}  // namespace pollen
