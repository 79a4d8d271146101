#include <pollen/autograd/ops/detail/elementwise.hpp>

#include <sstream>

namespace pollen {

// y = low where x < low, high where x > high, else x        dL/dx += dL/dy where low <= x <= high
template <Real T>
Var<T> clamp(Var<T> x, Number<T> low, Number<T> high) {
    if (!(low <= high)) {
        std::ostringstream message;
        message << "clamp: low is " << low << " and high is " << high << "; low must not be above high";
        throw ValueError(message.str());
    }
    return unary(
        "clamp", x,
        [low, high](auto v) {
            const Batch<T> l(low), h(high);
            return xsimd::select(v < l, l, xsimd::select(v > h, h, v));
        },
        [low, high](auto g, auto v, auto) {
            return xsimd::select(v >= Batch<T>(low) && v <= Batch<T>(high), g, Batch<T>(T(0)));
        });
}

template Var<float> clamp(Var<float>, float, float);
template Var<double> clamp(Var<double>, double, double);

}  // namespace pollen
