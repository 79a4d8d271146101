#pragma once

#include <pollen/autograd/kernels/log.hpp>
#include <pollen/autograd/kernels/pair.hpp>

// x^y = exp(y log x). An error in log x grows by y log x, up to 745 times, so log x is computed to nearly twice the
// digits of the type, as the unevaluated sum of two numbers.
namespace pollen::kernels {

template <class T>
struct PowConstants;
template <>
struct PowConstants<float> {
    static constexpr float two_thirds = 0x1.555556p-1f, two_thirds_low = -0x1.555556p-26f;
    // 2/5 + 2/7 s^2 + 2/9 s^4 + ...
    static constexpr float tail[] = {0x1.999a00p-2f, 0x1.24528ap-2f, 0x1.dfa136p-3f};
};
template <>
struct PowConstants<double> {
    static constexpr double two_thirds = 0x1.5555555555555p-1, two_thirds_low = 0x1.5555555555555p-55;
    static constexpr double tail[] = {0x1.9999999999b27p-2, 0x1.2492492458963p-2, 0x1.c71c722ca1cd2p-3,
                                      0x1.745cea135fc90p-3, 0x1.3b1ee636d94f2p-3, 0x1.0f803a64d9583p-3,
                                      0x1.0e4173d97f046p-3};
};

// log((1 + s) / (1 - s)) - 2 s = 2/3 s^3 + 2/5 s^5 + ... at s + s_low, the first term with a low part
template <class T>
inline Pair<T> log_tail(const Batch<T>& s, const Batch<T>& s_low) {
    using Constants = PowConstants<T>;
    const Batch<T> two_thirds(Constants::two_thirds), two_thirds_low(Constants::two_thirds_low);
    const Pair<T> square = two_product(s, s), cube = two_product(square.high, s);
    const Batch<T> square_low = multiply_add(Batch<T>(s + s), s_low, square.low);
    const Batch<T> cube_low = multiply_add(square.high, s_low, multiply_add(square_low, s, cube.low));
    const Pair<T> third = two_product(cube.high, two_thirds);
    const Batch<T> third_low = multiply_add(cube_low, two_thirds, multiply_add(cube.high, two_thirds_low, third.low));
    const Batch<T> rest = polynomial(square.high, Constants::tail);
    return {third.high, multiply_add(Batch<T>(cube.high * square.high), rest, third_low)};
}

// log(x) for finite x > 0: as log(x) in log.hpp, but with the low parts of s and of the sums. The low part of the
// result is small, but not always below the last place of the high one.
template <class T>
inline Pair<T> extended_log(const Batch<T>& x) {
    const auto [k, f] = log_parts(x);
    const Pair<T> divisor = fast_two_sum(Batch<T>(T(2)), f);
    const Batch<T> inverse = Batch<T>(T(1)) / divisor.high, s = f * inverse;
    const Pair<T> back = two_product(s, divisor.high);
    const Batch<T> s_low = inverse * (((f - back.high) - back.low) - s * divisor.low);
    const Pair<T> tail = log_tail(s, s_low);
    const Pair<T> first = fast_two_sum(Batch<T>(k * Batch<T>(Log2<T>::high)), Batch<T>(s + s));
    const Pair<T> second = fast_two_sum(first.high, tail.high);
    const Batch<T> low = multiply_add(k, Batch<T>(Log2<T>::low), multiply_add(Batch<T>(T(2)), s_low, tail.low));
    return {second.high, (first.low + second.low) + low};
}

// The cases apart: zeros, infinities and NaN, negative x, results far beyond the range of the type.
template <class T>
inline Batch<T> pow_special(const Batch<T>& x, const Batch<T>& y, const Pair<T>& log_a) {
    const Batch<T> zero(T(0)), one(T(1)), half(T(0.5)), large(infinity<T>), a = xsimd::abs(x);
    const Batch<T> log_high = xsimd::select(a == zero, -large, xsimd::select(a < large, log_a.high, a));
    const Pair<T> product = two_product(y, log_high);
    const Batch<T> tail = multiply_add(y, log_a.low, product.low);
    const auto finite = xsimd::abs(product.high) < Batch<T>(T(1e4));
    const Batch<T> magnitude = kernels::exp<T>(product.high, xsimd::select(finite, tail, zero));
    // Of negative x only whole powers are real, and odd ones keep the sign.
    const auto whole = xsimd::floor(y) == y, even = xsimd::floor(half * y) == half * y;
    const Batch<T> power = with_sign<T>(magnitude, xsimd::select(whole && !even, x, zero));
    const Batch<T> real = xsimd::select(x < zero && a < large && !whole, Batch<T>(nan<T>), power);
    // x^0 and 1^y are 1 whatever the other is, and so is (-1)^(+-infinity).
    return xsimd::select(y == zero || x == one || (x == -one && xsimd::abs(y) == large), one, real);
}

template <class T>
inline Batch<T> pow(const Batch<T>& x, const Batch<T>& y) {
    const Pair<T> log_a = extended_log<T>(xsimd::abs(x)), product = two_product(y, log_a.high);
    const auto plain = x > Batch<T>(T(0)) && x < Batch<T>(infinity<T>) && xsimd::abs(product.high) < Batch<T>(T(1e4));
    if (!xsimd::all(plain)) return pow_special(x, y, log_a);
    return kernels::exp<T>(product.high, multiply_add(y, log_a.low, product.low));
}

}  // namespace pollen::kernels
