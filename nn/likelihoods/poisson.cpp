#include <pollen/nn/likelihoods/poisson.hpp>

#include <pollen/autograd/kernels/lgamma.hpp>
#include <pollen/nn/likelihoods/detail/pointwise.hpp>
#include <pollen/nn/likelihoods/detail/targets.hpp>

#include <cmath>

namespace pollen {

namespace {

// log y! - y log y + y for whole y >= 1, with log_y = log y. From 16 on by Stirling's series, log(2 pi y) / 2 + 1/(12
// y)
// - 1/(360 y^3) + ..., in which nothing large cancels.
template <class T>
Batch<T> log_factorial_rest(const Batch<T>& y, const Batch<T>& log_y) {
    const Batch<T> one(T(1)), w = one / y, z = w * w;
    Batch<T> series(T(1) / 1188);
    for (const double c : {-1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12}) series = series * z + Batch<T>(T(c));
    const Batch<T> large = Batch<T>(T(0.5)) * log_y + Batch<T>(T(0.91893853320467274178)) + w * series;
    const auto small = y < Batch<T>(T(16));
    if (!xsimd::any(small)) return large;
    return xsimd::select(small, kernels::lgamma<T>(y + one) - y * (log_y - one), large);
}

template <Real T>
const T* counts(const Shape& outputs, const Dataset<T>& batch) {
    check_outputs("Poisson", outputs);
    check_target_shape("Poisson", outputs, outputs, batch.targets);
    check_targets("Poisson", batch.targets, "whole numbers from 0 up are needed",
                  [](const auto& y) { return y >= Batch<T>(T(0)) && xsimd::floor(y) == y && y - y == Batch<T>(T(0)); });
    return batch.targets.data();
}

}  // namespace

// With d = x - log y,
//     log p = -y (exp(d) - 1 - d) - (log y! - y log y + y),  -exp(x) where y is 0        dlog p/dx = y - exp(x)
// The first form takes no difference of numbers as large as y log y, which a float would not hold.
template <Real T>
Var<T> Poisson<T>::log_prob(Pass<T>&, Var<T> outputs, const Dataset<T>& batch) const {
    return pointwise(
        "poisson", outputs, counts(outputs.shape(), batch),
        [](const Batch<T>& x, const Batch<T>& y) {
            const auto none = y == Batch<T>(T(0));
            const Batch<T> some = xsimd::select(none, Batch<T>(T(1)), y), log_y = kernels::log(some), d = x - log_y;
            const Batch<T> lack = some * (kernels::expm1(d) - d) + log_factorial_rest(some, log_y);
            return -xsimd::select(none, kernels::exp(x), lack);
        },
        [](const Batch<T>& x, const Batch<T>& y) {
            const auto none = y == Batch<T>(T(0));
            const Batch<T> some = xsimd::select(none, Batch<T>(T(1)), y);
            const Batch<T> surplus = some * kernels::expm1<T>(x - kernels::log(some));
            return -xsimd::select(none, kernels::exp(x), surplus);
        });
}

template <Real T>
double Poisson<T>::score(const Tensor<T>& outputs, const Dataset<T>& batch) const {
    return sum_of_means(outputs.shape(), outputs.data(), counts(outputs.shape(), batch), [](double x, double y) {
        if (y == 0) return 2 * std::exp(x);
        const double d = x - std::log(y);
        return 2 * y * (std::expm1(d) - d);
    });
}

template class Poisson<float>;
template class Poisson<double>;

}  // namespace pollen
