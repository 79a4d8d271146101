#pragma once

#include <pollen/autograd/kernels/bits.hpp>

// The exponential function and what is made of it. With k = x / ln 2 rounded to a whole number,
//
//     exp(x) = 2^k exp(r)        r = x - k ln 2, |r| <= ln 2 / 2        exp(r) = 1 + r + r^2 p(r)
//
// Within one unit of the last place, down to the smallest denormal number and up to the largest finite one.
namespace pollen::kernels {

template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
    static constexpr float lowest = -104.0f, highest = 89.0f;  // beyond these exp is 0 and infinite
    static constexpr float minus_one = -25.0f;                 // below this exp(x) - 1 is -1
    static constexpr float p[] = {0x1.000000p-1f, 0x1.55548ep-3f, 0x1.55545ep-5f, 0x1.123b54p-7f, 0x1.6db420p-10f};
    // (tanh(x) - x) / x^3 in powers of x^2, |x| <= 0.55
    static constexpr float tanh[] = {-0x1.55554cp-2f, 0x1.110d3ap-3f, -0x1.b92b7ep-5f, 0x1.59547ap-6f, -0x1.9badf8p-8f};
};

template <>
struct ExpConstants<double> {
    static constexpr double lowest = -746.0, highest = 710.0, minus_one = -45.0;
    static constexpr double p[] = {0x1.0000000000000p-1,  0x1.555555555555cp-3,  0x1.555555555555ep-5,
                                   0x1.111111110ebb3p-7,  0x1.6c16c16c13569p-10, 0x1.a01a01b3bb253p-13,
                                   0x1.a01a01b45d4edp-16, 0x1.71ddef93bdabdp-19, 0x1.27e4bf22d6b5dp-22,
                                   0x1.af6cccf89d149p-26, 0x1.1f9e016042dd7p-29};
    static constexpr double tanh[] = {-0x1.55555555554a4p-2,  0x1.1111111102fccp-3,  -0x1.ba1ba1adb8f5ep-5,
                                      0x1.664f45cf38392p-6,   -0x1.226dde7ddcd51p-7, 0x1.d6c6425392818p-9,
                                      -0x1.7cf512edf1bf4p-10, 0x1.2faa056d10f38p-11, -0x1.b9382a7ce889dp-13,
                                      0x1.ac7b48e2049d8p-15};
};

// exp(x), or exp(x + tail) with a small correction of x.
template <class T, class... Tail>
inline Batch<T> exp(const Batch<T>& x, const Tail&... tail) {
    using Constants = ExpConstants<T>;
    const Batch<T> v = between(x, Constants::lowest, Constants::highest);
    const auto [k, biased] = round_product<T>((v + ... + tail), Log2<T>::inverse, 2 * Format<T>::bias);
    const Batch<T> high = subtract_product(k, Batch<T>(Log2<T>::high), v);
    const Batch<T> r = (subtract_product(k, Batch<T>(Log2<T>::low), high) + ... + tail);
    const Batch<T> y = Batch<T>(T(1)) + multiply_add(Batch<T>(r * r), long_polynomial(r, Constants::p), r);
    // 2^k may not be a normal number, but it is the product of two that are.
    const Bits<T> half = biased >> 1;
    return y * power_of_two<T>(half) * power_of_two<T>(biased - half);
}

// exp(x) - 1 = 2^k (exp(r) - 1) + (2^k - 1)
template <class T>
inline Batch<T> expm1(const Batch<T>& x) {
    using Constants = ExpConstants<T>;
    const Batch<T> v = between(x, Constants::minus_one, Constants::highest), low(Log2<T>::low);
    const auto [k, biased] = round_product(v, Log2<T>::inverse, Format<T>::bias - 1);
    const Batch<T> high = subtract_product(k, Batch<T>(Log2<T>::high), v);
    const Batch<T> r = subtract_product(k, low, high), lost = subtract_product(k, low, Batch<T>(high - r));
    const Batch<T> rest = multiply_add(Batch<T>(r * r), long_polynomial(r, Constants::p), lost);
    const Batch<T> scale = power_of_two<T>(biased);  // 2^(k-1): 2^k itself can be too large
    const Batch<T> y = multiply_add(scale, rest, multiply_add(scale, r, scale - Batch<T>(T(0.5))));
    return xsimd::select(xsimd::abs(x) < Batch<T>(std::numeric_limits<T>::epsilon() / 8), x, y + y);
}

// 1 / (1 + exp(-x)), without overflow
template <class T>
inline Batch<T> sigmoid(const Batch<T>& x) {
    const Batch<T> one(T(1)), e = kernels::exp<T>(-xsimd::abs(x));
    return xsimd::select(x < Batch<T>(T(0)), e, one) / (one + e);
}

// x sigmoid(x). The factor x is cut off where sigmoid(x) is 0, so that the limit at minus infinity is right.
template <class T>
inline Batch<T> swish(const Batch<T>& x) {
    return xsimd::max(Batch<T>(2 * ExpConstants<T>::lowest), x) * kernels::sigmoid<T>(x);
}

// Its derivative: s (1 + x (1 - s)), s = sigmoid(x). s and 1 - s are 1 / (1 + e) and e / (1 + e), so neither is lost
// beside 1.
template <class T>
inline Batch<T> swish_slope(const Batch<T>& x) {
    constexpr T bound = -2 * ExpConstants<T>::lowest;
    const Batch<T> one(T(1)), e = kernels::exp<T>(-xsimd::abs(x)), large = one / (one + e), small = e * large;
    const auto negative = x < Batch<T>(T(0));
    const Batch<T> s = xsimd::select(negative, small, large), rest = xsimd::select(negative, large, small);
    return s * multiply_add(between(x, -bound, bound), rest, one);
}

// tanh|x| = 1 - 2 / (1 + exp(2|x|)), and a polynomial about 0
template <class T>
inline Batch<T> tanh(const Batch<T>& x) {
    const Batch<T> one(T(1)), a = xsimd::abs(x), z = a * a;
    const Batch<T> far = one - Batch<T>(T(2)) / (one + kernels::exp<T>(a + a));
    const Batch<T> near = multiply_add(Batch<T>(a * z), long_polynomial(z, ExpConstants<T>::tanh), a);
    return with_sign<T>(xsimd::select(a < Batch<T>(T(0.55)), near, far), x);
}

}  // namespace pollen::kernels
