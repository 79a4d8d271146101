#pragma once

#include <pollen/autograd/kernels/exp.hpp>
#include <pollen/autograd/kernels/pair.hpp>

// The error function and the normal distribution function. Both use that the tail of the normal distribution is
//
//     1 - Phi(a) = exp(-a^2 / 2) m(a)        m(a) = exp(a^2 / 2) erfc(a / sqrt(2)) / 2        a >= 0
//
// where m falls slowly from 1/2 to 0 and is a quotient of two polynomials with positive coefficients only: nothing
// cancels, and the tail is right to its last digits down to the smallest number.
namespace pollen::kernels {

template <class T>
struct ErfConstants;

template <>
struct ErfConstants<float> {
    static constexpr float erf_is_one = 4.0f, tail_is_zero = 15.0f;
    // erf(x) / x - 1 in powers of x^2, |x| <= 0.75
    static constexpr float near[] = {0x1.06eba8p-3f,  -0x1.812738p-2f, 0x1.ce2abcp-4f,
                                     -0x1.b7a792p-6f, 0x1.4f2370p-8f,  -0x1.61a5cap-11f};
    static constexpr float p[] = {0x1.000000p-1f, 0x1.c1d0b6p-2f, 0x1.78c0c8p-3f, 0x1.4ee0a0p-5f, 0x1.102970p-8f};
    static constexpr float q[] = {0x1.000000p+0f, 0x1.ad2a8cp+0f, 0x1.349cb0p+0f,
                                  0x1.e2b3a6p-2f, 0x1.a3bb52p-4f, 0x1.5519c6p-7f};
};

template <>
struct ErfConstants<double> {
    static constexpr double erf_is_one = 6.0, tail_is_zero = 40.0;
    static constexpr double near[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e0p-2,  0x1.ce2f21a042443p-4,
                                      -0x1.b82ce31254592p-6,  0x1.565bcd02dc772p-8,   -0x1.c02db1050e6cap-11,
                                      0x1.f9a2abe769260p-14,  -0x1.f4c592811d74ep-17, 0x1.b90b21029518cp-20,
                                      -0x1.56365eb1a767cp-23, 0x1.899fb4d35cce5p-27};
    static constexpr double p[] = {0x1.0000000000000p-1,  0x1.a83b98430bdf3p-1,  0x1.5c7bc7e69857ap-1,
                                   0x1.6ebae1621718bp-2,  0x1.0f39706cf0cbdp-3,  0x1.2545739af9522p-5,
                                   0x1.d4e9b4607edabp-8,  0x1.120754b7f4a2ep-10, 0x1.c1db2b47e39e6p-14,
                                   0x1.d7ab145a1b094p-18, 0x1.e5b0eb20d8fc1p-23};
    static constexpr double q[] = {0x1.0000000000000p+0,  0x1.3a3ee0f0d6c8ep+1,  0x1.68f9368000bc3p+1,
                                   0x1.009e312d85314p+1,  0x1.f6faeab746347p-1,  0x1.65c000fe5bbc8p-2,
                                   0x1.7a263c9775e7fp-4,  0x1.2a3bd960355edp-6,  0x1.59c0cda786b9fp-9,
                                   0x1.1a7ffeac84b75p-12, 0x1.279302c996e64p-16, 0x1.305c9bdde0440p-21};
};

// m(a) above, for 0 <= a <= tail_is_zero
template <class T>
inline Batch<T> mills_ratio(const Batch<T>& a) {
    return long_polynomial(a, ErfConstants<T>::p) / long_polynomial(a, ErfConstants<T>::q);
}

// erf|x| = 1 - 2 exp(-x^2) m(sqrt(2) |x|), and a polynomial about 0
template <class T>
inline Batch<T> erf(const Batch<T>& x) {
    const Batch<T> a = xsimd::min(Batch<T>(ErfConstants<T>::erf_is_one), xsimd::abs(x)), z = a * a;
    const Batch<T> near = multiply_add(a, long_polynomial(z, ErfConstants<T>::near), a);
    const Batch<T> tail = kernels::exp<T>(-z) * mills_ratio<T>(Batch<T>(T(1.41421356237309504880)) * a);
    const Batch<T> far = subtract_product(Batch<T>(T(2)), tail, Batch<T>(T(1)));
    return with_sign<T>(xsimd::select(a < Batch<T>(T(0.75)), near, far), x);
}

// The tail of the normal distribution beyond |x| in two factors: 1 - Phi|x| = exponential ratio
template <class T>
struct NormalTail {
    Batch<T> exponential, ratio;
};
template <class T>
inline NormalTail<T> normal_tail(const Batch<T>& x) {
    const Batch<T> a = xsimd::min(Batch<T>(ErfConstants<T>::tail_is_zero), xsimd::abs(x)), minus_half(T(-0.5));
    const Pair<T> square = two_product(a, a);
    return {kernels::exp<T>(minus_half * square.high, Batch<T>(minus_half * square.low)), mills_ratio(a)};
}

}  // namespace pollen::kernels
