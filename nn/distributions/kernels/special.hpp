#pragma once

#include <pollen/autograd/kernels/lgamma.hpp>

// What densities share, on batches.
namespace pollen::kernels {

// log(1 + a^2), also where a^2 is too large for a number
template <class T>
inline Batch<T> log1p_square(const Batch<T>& a) {
    const Batch<T> size = xsimd::abs(a);
    const auto far = size > Batch<T>(T(1e17));
    const Batch<T> log = log1p<T>(xsimd::select(far, size, size * size));
    return xsimd::select(far, log + log, log);
}

// a / (1 + a^2) and a^2 / (1 + a^2); where a^2 could overflow, 1 / a and 1 to all digits
template <class T>
struct CauchyShares {
    Batch<T> odd, even;
    Batch<T> whole, again;  // their product is 1 + a^2
    bool far;               // `again` is not 1 everywhere

    explicit CauchyShares(const Batch<T>& a) {
        const Batch<T> one(T(1)), t = a * a, part = one / (one + t);
        odd = a * part;
        even = t * part;
        whole = one + t;
        const auto too_large = t > Batch<T>(T(1e30));
        far = xsimd::any(too_large);
        if (far) [[unlikely]] {
            odd = xsimd::select(too_large, one / a, odd);
            even = xsimd::select(too_large, one, even);
            again = xsimd::select(too_large, xsimd::abs(a), one);
            whole = xsimd::select(too_large, again, whole);
        }
    }
};

// Above this, lgamma and digamma are taken by their series in 1 / x. So differences of them need not cancel.
template <class T>
inline constexpr T series_from = T(9);

// lgamma(x) = (x - 1/2) log x - x + log(2 pi) / 2 + lgamma_rest(x) for x >= series_from
template <class T>
inline Batch<T> lgamma_rest(const Batch<T>& x) {
    const Batch<T> w = Batch<T>(T(1)) / x;
    return w * polynomial(Batch<T>(w * w), GammaConstants<T>::lgamma_series);
}

// digamma(x) = log x - digamma_rest(x) for x >= series_from
template <class T>
inline Batch<T> digamma_rest(const Batch<T>& x) {
    const Batch<T> w = Batch<T>(T(1)) / x, z = w * w;
    return multiply_add(z, polynomial(z, GammaConstants<T>::digamma_series), Batch<T>(Batch<T>(T(0.5)) * w));
}

// log(b / a) of b = a (1 + t), t small or not, where the logarithms of both are known
template <class T>
inline Batch<T> log_ratio(const Batch<T>& t, const Batch<T>& log_b, const Batch<T>& log_a) {
    return xsimd::select(xsimd::abs(t) < Batch<T>(T(0.5)), log1p(t), log_b - log_a);
}

// log B(a, b)
template <class T>
inline Batch<T> log_beta(const Batch<T>& a, const Batch<T>& b) {
    const Batch<T> lo = xsimd::min(a, b), hi = xsimd::max(a, b), sum = a + b;
    const Batch<T> plain = lgamma(hi) - lgamma(sum);
    const Batch<T> step =
        multiply_add(Batch<T>(hi - Batch<T>(T(0.5))), log1p<T>(lo / hi), lo * (log(sum) - Batch<T>(T(1))));
    const Batch<T> series = lgamma_rest(hi) - lgamma_rest(sum) - step;
    return lgamma(lo) + xsimd::select(hi < Batch<T>(series_from<T>), plain, series);
}

}  // namespace pollen::kernels
