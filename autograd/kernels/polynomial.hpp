#pragma once

#include <pollen/autograd/kernels/rounding.hpp>

#include <cstddef>

namespace pollen::kernels {

// c[0] + c[1] x + c[2] x^2 + ..., by Horner's rule.
template <class T, class A, std::size_t n>
inline xsimd::batch<T, A> polynomial(const xsimd::batch<T, A>& x, const T (&c)[n]) {
    xsimd::batch<T, A> sum(c[n - 1]);
    for (std::size_t i = n - 1; i-- > 0;) sum = multiply_add(sum, x, xsimd::batch<T, A>(c[i]));
    return sum;
}

// The same; where there are many coefficients, with the even and the odd powers side by side. That takes one more
// multiplication, but half the time until the result is there.
template <class T, class A, std::size_t n>
inline xsimd::batch<T, A> long_polynomial(const xsimd::batch<T, A>& x, const T (&c)[n]) {
    if constexpr (n < 6) return polynomial(x, c);
    constexpr std::size_t last_even = (n - 1) / 2 * 2, last_odd = n / 2 * 2 - 1;
    const xsimd::batch<T, A> square = x * x;
    xsimd::batch<T, A> even(c[last_even]), odd(c[last_odd]);
    for (std::size_t i = last_even; i >= 2; i -= 2) even = multiply_add(even, square, xsimd::batch<T, A>(c[i - 2]));
    for (std::size_t i = last_odd; i >= 3; i -= 2) odd = multiply_add(odd, square, xsimd::batch<T, A>(c[i - 2]));
    return multiply_add(odd, x, even);
}

}  // namespace pollen::kernels
