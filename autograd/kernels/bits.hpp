#pragma once

#include <pollen/autograd/kernels/polynomial.hpp>

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

// The parts of floating-point numbers, for the elementary functions in this folder.
//
// A function here is a formula for the common case, on a batch, and a few selects for the rest: no lane ever takes
// another way because of its neighbours. The polynomials are those of least largest error (Remez), with coefficients
// rounded to the type.
namespace pollen::kernels {

template <class T>
using Batch = xsimd::batch<T>;

template <class T>
struct Format;
template <>
struct Format<float> {
    using Word = std::uint32_t;
    static constexpr int mantissa = 23, bias = 127;
};
template <>
struct Format<double> {
    using Word = std::uint64_t;
    static constexpr int mantissa = 52, bias = 1023;
};

template <class T>
using Word = typename Format<T>::Word;
template <class T>
using Bits = xsimd::batch<Word<T>>;

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
inline constexpr bool has_fma = true;  // multiply_add rounds once
#else
inline constexpr bool has_fma = false;
#endif

template <class T>
inline constexpr T infinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T nan = std::numeric_limits<T>::quiet_NaN();

template <class T>
inline Bits<T> to_bits(const Batch<T>& x) {
    return xsimd::bitwise_cast<Bits<T>>(x);
}
template <class T>
inline Batch<T> from_bits(const Bits<T>& bits) {
    return xsimd::bitwise_cast<Batch<T>>(bits);
}

// 2^k from k + bias.
template <class T>
inline Batch<T> power_of_two(const Bits<T>& biased) {
    return from_bits<T>(biased << Format<T>::mantissa);
}

// x with the sign of `sign` where x is not negative.
template <class T>
inline Batch<T> with_sign(const Batch<T>& x, const Batch<T>& sign) {
    return x | (sign & Batch<T>(T(-0.0)));
}

// -x, with zeros turned, too: for AVX-512 xsimd 8.1 subtracts from 0.
template <class T>
inline Batch<T> negative(const Batch<T>& x) {
    return x ^ Batch<T>(T(-0.0));
}

// low <= x <= high, and NaN where x is NaN: the SIMD instructions return their second operand then.
template <class T>
inline Batch<T> between(const Batch<T>& x, T low, T high) {
    return xsimd::min(Batch<T>(high), xsimd::max(Batch<T>(low), x));
}

// factor x rounded to a whole number k, |k| < 2^21 (float) or 2^50 (double): as a number, and k + offset as the lowest
// bits of a word. Adding a number whose last place has the value 1 does both.
template <class T>
struct Rounded {
    Batch<T> k;
    Bits<T> bits;
};
template <class T>
inline Rounded<T> round_product(const Batch<T>& x, T factor, int offset = 0) {
    const T large = T(3) * T(Word<T>{1} << (Format<T>::mantissa - 1)) + T(offset);
    const Batch<T> sum = multiply_add(x, Batch<T>(factor), Batch<T>(large));
    return {sum - Batch<T>(large), to_bits(sum)};
}

// x = 2^e (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2), for normal x > 0: the mantissa 1 + f, and e + bias as a word.
template <class T>
struct Split {
    Batch<T> mantissa;
    Bits<T> biased;
};
template <class T>
inline Split<T> split(const Batch<T>& x) {
    constexpr int m = Format<T>::mantissa;
    constexpr Word<T> root = std::bit_cast<Word<T>>(T(0.70710678118654752440));
    constexpr Word<T> one = Word<T>{Format<T>::bias} << m;
    const Bits<T> shifted = to_bits(x) + Bits<T>(one - root);
    return {from_bits<T>((shifted & Bits<T>((Word<T>{1} << m) - 1)) + Bits<T>(root)), shifted >> m};
}

// e from e + bias, as a number: the word stands in the last places of 2^mantissa.
template <class T>
inline Batch<T> to_number(const Bits<T>& biased, int bias = Format<T>::bias) {
    const T large = T(Word<T>{1} << Format<T>::mantissa);
    return from_bits<T>(biased | to_bits(Batch<T>(large))) - Batch<T>(large + T(bias));
}

// ln 2 in two parts; the first has zeros in its last places, so that its product with an exponent is exact.
template <class T>
struct Log2;
template <>
struct Log2<float> {
    static constexpr float high = 0x1.62e4p-1f, low = 0x1.7f7d1cp-20f, inverse = 0x1.715476p+0f;
};
template <>
struct Log2<double> {
    static constexpr double high = 0x1.62e42feep-1, low = 0x1.a39ef35793c76p-33, inverse = 0x1.71547652b82fep+0;
};

}  // namespace pollen::kernels
