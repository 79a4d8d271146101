#pragma once

#include <pollen/autograd/kernels/rounding.hpp>
#include <pollen/autograd/kernels/simd.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

// Two normals from two uniforms (Box and Muller, 1958):
//
//     z0 = sqrt(-2 ln u) cos(2 pi v)        z1 = sqrt(-2 ln u) sin(2 pi v)        u, v uniform in (0, 1)
//
// The logarithm, sine and cosine are made for just the arguments that occur here, so they have no special cases and
// reduce their argument with integers, without error. Every sum of products says how often it is rounded, so the bits
// do not depend on the compiler. z0 and z1 are within 4 units in the last place of the exact result.
namespace pollen::kernels {

// Polynomials of least largest error, lowest coefficient first.
template <class T>
struct BoxMullerConstants;

template <>
struct BoxMullerConstants<float> {
    using Int = std::int32_t;
    static constexpr int mantissa_bits = 23;
    // sin(pi s / 2) / s less the rounded pi / 2, and (cos(pi s / 2) - 1) / s^2, in powers of s^2, |s| <= 1/2
    static constexpr float half_pi = 0x1.921fb6p+0f;
    static constexpr float sine[] = {-0x1.a32c06p-25f, -0x1.4abbbap-1f, 0x1.465eeap-4f, -0x1.2da156p-8f};
    static constexpr float cosine[] = {-0x1.3bd3ccp+0f, 0x1.03c1b0p-2f, -0x1.55b282p-6f, 0x1.d4d73ap-11f};
    // (-2 ln(1 + t) + 2 t - t^2) / t^3 in powers of t, -1/2 <= t <= 0
    static constexpr float log[] = {-0x1.554f30p-1f, 0x1.01004ap-1f, -0x1.79b854p-2f, 0x1.2c7b34p-1f,
                                    0x1.c44fb8p-1f,  0x1.af7d5cp+1f, 0x1.17692cp+2f,  0x1.9df598p+1f};
};

template <>
struct BoxMullerConstants<double> {
    using Int = std::int64_t;
    static constexpr int mantissa_bits = 52;
    static constexpr double half_pi = 0x1.921fb54442d18p+0;
    static constexpr double sine[] = {0x1.026442b1568a6p-54, -0x1.4abbce625be41p-1, 0x1.466bc67758785p-4,
                                      -0x1.32d2cce2dd5a7p-8, 0x1.50782fd17f178p-13, -0x1.e30069b35bfa5p-19,
                                      0x1.e3f0c250e68aap-25};
    static constexpr double cosine[] = {-0x1.3bd3cc9be45dep+0, 0x1.03c1f081b5a53p-2,   -0x1.55d3c7e3c00cep-6,
                                        0x1.e1f50675f92abp-11, -0x1.a6d1e274a1164p-16, 0x1.f9c4dd30ec4d0p-22,
                                        -0x1.b042cc24de680p-28};
    // 2 (ln(1 + t) - 2 w) / w^3 in powers of w^2, where w = t / (2 + t), -1/2 <= t <= 0
    static constexpr double log[] = {
        0x1.5555555555535p+0, 0x1.99999999a0725p-1, 0x1.249249208e8b8p-1, 0x1.c71c741b13496p-2, 0x1.745cb4392bae0p-2,
        0x1.3b1dd619d7801p-2, 0x1.106811e2cb3b2p-2, 0x1.efd3327708892p-3, 0x1.55c8ad5fa866fp-3, 0x1.5c61e8f4adb29p-2};
};

template <class T, class A, std::size_t n>
inline xsimd::batch<T, A> horner(const xsimd::batch<T, A>& x, const T (&c)[n]) {
    xsimd::batch<T, A> sum(c[n - 1]);
    for (std::size_t i = n - 1; i-- > 0;) sum = multiply_add(sum, x, xsimd::batch<T, A>(c[i]));
    return sum;
}

// -2 ln(1 + t) for -1/2 <= t <= 0. In double a division halves the length of the polynomial:
//     ln(1 + t) = 2 artanh(w) = 2 w + 2 w^3 / 3 + ...  with  w = t / (2 + t)  and  2 w = t - w t
template <class A>
inline xsimd::batch<float, A> minus_2_log1p(const xsimd::batch<float, A>& t) {
    using Batch = xsimd::batch<float, A>;
    const Batch p = horner(t, BoxMullerConstants<float>::log);
    return multiply_add(Batch(t * t), multiply_add(p, t, Batch(1.0f)), Batch(t * Batch(-2.0f)));
}

template <class A>
inline xsimd::batch<double, A> minus_2_log1p(const xsimd::batch<double, A>& t) {
    using Batch = xsimd::batch<double, A>;
    const Batch w = t / (Batch(2.0) + t), w2 = w * w, t2 = t * t;
    const Batch p = horner(w2, BoxMullerConstants<double>::log);
    return multiply_add(Batch(-2.0), t, multiply_add(Batch(-w), multiply_add(w2, p, t2), t2));
}

// u and v come as signed fractions in [-1/2, 1/2], the places of a fine grid all equally likely. Rounding such a
// fraction to T keeps its relative precision about 0, so u is precise near 0 and near 1 and normals are fine-grained
// everywhere:
//
//     u = radius       if radius > 0, else 1 + radius                            (radius is never 0)
//     2 pi v = pi/2 angle, in [-pi/4, pi/4], mirrored by quarter & 3 into one of the four quarters of the circle
//
// On return radius holds z0 and angle z1. Each operation waits for the one before it, so n batches go side by side.
template <class T, class A, std::size_t n>
inline void box_muller(std::array<xsimd::batch<T, A>, n>& radius, std::array<xsimd::batch<T, A>, n>& angle,
                       const std::array<xsimd::batch<typename BoxMullerConstants<T>::Int, A>, n>& quarter) {
    using Constants = BoxMullerConstants<T>;
    using Int = typename Constants::Int;
    using Batch = xsimd::batch<T, A>;
    using Ints = xsimd::batch<Int, A>;
    using Unsigned = xsimd::batch<std::make_unsigned_t<Int>, A>;
    constexpr int bits = 8 * sizeof(T), mantissa = Constants::mantissa_bits;

    // u = 2^e (1 + t) with e <= 0 and -1/2 <= t <= 0, so that -2 ln u is a sum of two positive numbers. The exponent
    // field becomes a floating-point number by standing in the last places of 2^mantissa.
    constexpr T half = T(0.5), large = T(Int{1} << mantissa);
    constexpr T minus_2_log_2 = T(-1.38629436111989061883);
    std::array<Batch, n> t, e, r;
    for (std::size_t i = 0; i < n; ++i) {
        const auto near_one = xsimd::bool_cast(xsimd::bitwise_cast<Ints>(radius[i]) < Ints(0));
        const Ints u = xsimd::bitwise_cast<Ints>(xsimd::select(near_one, Batch(half), radius[i]));
        const Ints fraction = (u & Ints((Int{1} << mantissa) - 1)) | Ints(std::bit_cast<Int>(half));
        const Ints field = xsimd::bitwise_cast<Ints>(xsimd::bitwise_cast<Unsigned>(u) >> mantissa);
        const Ints exponent = field | Ints(std::bit_cast<Int>(large));
        t[i] = xsimd::select(near_one, radius[i], xsimd::bitwise_cast<Batch>(fraction) - Batch(T(1)));
        e[i] = xsimd::bitwise_cast<Batch>(exponent) - Batch(large + T(std::bit_cast<Int>(half) >> mantissa));
    }
    for (std::size_t i = 0; i < n; ++i) r[i] = multiply_add(e[i], Batch(minus_2_log_2), minus_2_log1p(t[i]));
    for (std::size_t i = 0; i < n; ++i) r[i] = xsimd::sqrt(r[i]);
    for (std::size_t i = 0; i < n; ++i) {
        const Batch z = angle[i] * angle[i];
        const Batch sine =
            multiply_add(angle[i], Batch(Constants::half_pi), Batch(angle[i] * horner(z, Constants::sine)));
        const Batch cosine = multiply_add(z, horner(z, Constants::cosine), Batch(T(1)));
        // Bit 0 mirrors the point at the diagonal, bit 1 at the origin: together they cover the circle.
        const auto keep = xsimd::bool_cast((quarter[i] & Ints(1)) == Ints(0));
        const Ints sign = (quarter[i] & Ints(2)) << (bits - 2);
        const Batch signed_r = xsimd::bitwise_cast<Batch>(xsimd::bitwise_cast<Ints>(r[i]) ^ sign);
        radius[i] = rounded(Batch(signed_r * xsimd::select(keep, cosine, sine)));
        angle[i] = rounded(Batch(signed_r * xsimd::select(keep, sine, cosine)));
    }
}

}  // namespace pollen::kernels
