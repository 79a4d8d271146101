#pragma once

#include <pollen/autograd/kernels/bits.hpp>
#include <pollen/autograd/kernels/quarter_turns.hpp>

// Sine and cosine. With k = x / (pi/2) rounded to a whole number and r = x - k pi/2, |r| <= pi/4, they are plus or
// minus sin(r) or cos(r), as the last two bits of k say. pi/2 comes in parts with few digits, so that the products with
// k and the differences are exact until the last one. Beyond `limit` k has too many digits for that, and quarter_turns
// finds r in integers, lane by lane.
namespace pollen::kernels {

template <class T>
struct TrigConstants;

template <>
struct TrigConstants<float> {
    static constexpr float limit = has_fma ? 1e5f : 100.0f;
    static constexpr float two_over_pi = 0x1.45f306p-1f;
    static constexpr float pi_half[] = {0x1.921f8p+0f, 0x1.aa22p-19f, 0x1.68c234p-39f};
    // (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 in powers of r^2
    static constexpr float sine[] = {-0x1.555546p-3f, 0x1.11075cp-7f, -0x1.994cfap-13f};
    static constexpr float cosine[] = {0x1.55554ap-5f, -0x1.6c0c86p-10f, 0x1.9a00d0p-16f};
    // sin(pi r) / r in powers of r^2, |r| <= 1/2
    static constexpr float sine_pi[] = {0x1.921fb6p+1f,  -0x1.4abbcep+2f, 0x1.466bc0p+1f,
                                        -0x1.32d112p-1f, 0x1.500ff8p-4f,  -0x1.cc345ap-8f};
};

template <>
struct TrigConstants<double> {
    static constexpr double limit = has_fma ? 1e6 : 1e5;
    static constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
    static constexpr double pi_half[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2ep-69, 0x1.b839a252049c1p-104};
    static constexpr double sine[] = {-0x1.5555555555549p-3, 0x1.111111110f861p-7,   -0x1.a01a019c0e4c8p-13,
                                      0x1.71de3574bad4bp-19, -0x1.ae5e63cdee4c0p-26, 0x1.5d9246ebba5bdp-33};
    static constexpr double cosine[] = {0x1.555555555554cp-5,   -0x1.6c16c16c15163p-10, 0x1.a01a019caf007p-16,
                                        -0x1.27e4f807de917p-22, 0x1.1ee9ea71f7c99p-29,  -0x1.8fadd2e9f7ddep-37};
    static constexpr double sine_pi[] = {0x1.921fb54442d18p+1,  -0x1.4abbce625be52p+2,  0x1.466bc6775aa6ep+1,
                                         -0x1.32d2cce627542p-1, 0x1.50783485190b6p-4,   -0x1.e3074ddd1cb96p-8,
                                         0x1.e8f35e9d2300ap-12, -0x1.6f797703e284dp-16, 0x1.9d1b8585e59b7p-21};
};

// sin(r + turn pi/2) for |r| <= pi/4
template <class T>
inline Batch<T> turned_sine(const Batch<T>& r, const Bits<T>& turn) {
    using Constants = TrigConstants<T>;
    using Ints = xsimd::batch<std::make_signed_t<Word<T>>>;
    const Batch<T> z = r * r;
    const Batch<T> sine = multiply_add(Batch<T>(r * z), polynomial(z, Constants::sine), r);
    const Batch<T> high = subtract_product(Batch<T>(T(0.5)), z, Batch<T>(T(1)));
    const Batch<T> cosine = multiply_add(Batch<T>(z * z), polynomial(z, Constants::cosine), high);
    const auto even = xsimd::bool_cast(xsimd::bitwise_cast<Ints>(turn & Bits<T>(1)) == Ints(0));
    const Bits<T> sign = (turn & Bits<T>(2)) << int(8 * sizeof(T) - 2);
    return xsimd::select(even, sine, cosine) ^ from_bits<T>(sign);
}

// y with sin(a + quarters pi/2) in the lanes where a is too large for the reduction in T.
template <class T>
[[gnu::noinline]] Batch<T> mend_large(const Batch<T>& a, const Batch<T>& y, Word<T> quarters) {
    const T limit = TrigConstants<T>::limit;
    alignas(64) T r[Batch<T>::size];
    alignas(64) Word<T> turn[Batch<T>::size] = {};
    a.store_aligned(r);
    for (std::size_t i = 0; i < Batch<T>::size; ++i) {
        if (r[i] == infinity<T>) r[i] = nan<T>;
        if (!(r[i] > limit)) continue;
        const QuarterTurns turns = quarter_turns(static_cast<double>(r[i]));
        r[i] = static_cast<T>(turns.r);
        turn[i] = static_cast<Word<T>>(turns.k) + quarters;
    }
    return xsimd::select(a > Batch<T>(limit), turned_sine(Batch<T>::load_aligned(r), Bits<T>::load_aligned(turn)), y);
}

// sin(a + quarters pi/2) for a >= 0
template <class T>
inline Batch<T> sine_from(const Batch<T>& a, Word<T> quarters) {
    using Constants = TrigConstants<T>;
    const auto [k, bits] = round_product(a, Constants::two_over_pi);
    Batch<T> r = a;
    for (const T part : Constants::pi_half) r = subtract_product(k, Batch<T>(part), r);
    const Batch<T> y = turned_sine<T>(r, bits + Bits<T>(quarters));
    if (xsimd::any(a > Batch<T>(Constants::limit))) return mend_large(a, y, quarters);
    return y;
}

template <class T>
inline Batch<T> sin(const Batch<T>& x) {
    return sine_from<T>(xsimd::abs(x), 0) ^ (x & Batch<T>(T(-0.0)));
}

template <class T>
inline Batch<T> cos(const Batch<T>& x) {
    return sine_from<T>(xsimd::abs(x), 1);
}

// sin(pi r) for |r| <= 1/2
template <class T>
inline Batch<T> sin_pi(const Batch<T>& r) {
    return r * polynomial(Batch<T>(r * r), TrigConstants<T>::sine_pi);
}

}  // namespace pollen::kernels
