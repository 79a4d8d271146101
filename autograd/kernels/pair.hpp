#pragma once

#include <pollen/autograd/kernels/bits.hpp>

// Numbers with twice the digits of their type, as the unevaluated sum of two.
namespace pollen::kernels {

template <class T>
struct Pair {
    Batch<T> high, low;
};

// a + b exactly, for |a| >= |b| or a = 0
template <class T>
inline Pair<T> fast_two_sum(const Batch<T>& a, const Batch<T>& b) {
    const Batch<T> sum = a + b;
    return {sum, b - (sum - a)};
}

// a b exactly: the rounded product and what the rounding lost. Without fused multiply-add the factors are cut in halves
// (Dekker, 1971).
template <class T>
inline Pair<T> two_product(const Batch<T>& a, const Batch<T>& b) {
    const Batch<T> product = rounded<T>(a * b);
    if constexpr (has_fma) return {product, multiply_subtract(a, b, product)};
    const Bits<T> upper(~((Word<T>{1} << ((Format<T>::mantissa + 2) / 2)) - 1));
    const Batch<T> a1 = from_bits<T>(to_bits(a) & upper), b1 = from_bits<T>(to_bits(b) & upper), a2 = a - a1,
                   b2 = b - b1;
    return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

}  // namespace pollen::kernels
