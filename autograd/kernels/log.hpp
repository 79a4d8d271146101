#pragma once

#include <pollen/autograd/kernels/exp.hpp>

// The logarithm and what is made of it. With x = 2^k (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), and s = f / (2 + f),
//
//     log(x) = k ln 2 + log(1 + f)        log(1 + f) = 2 artanh(s) = 2 s + s^3 p(s^2)        2 s = f - s f
namespace pollen::kernels {

template <class T>
struct LogConstants;

template <>
struct LogConstants<float> {
    static constexpr float p[] = {0x1.55557ap-1f, 0x1.995e7cp-2f, 0x1.31e9eep-2f};
    // The same for 0 <= s <= 1/3.
    static constexpr float wide[] = {0x1.555558p-1f, 0x1.9996a8p-2f, 0x1.25097cp-2f, 0x1.b6d5bep-3f, 0x1.f1b29cp-3f};
};

template <>
struct LogConstants<double> {
    static constexpr double p[] = {0x1.5555555555593p-1, 0x1.999999997f8d4p-2, 0x1.249249423c4c7p-2,
                                   0x1.c71c51c7d709ap-3, 0x1.74664d350344ep-3, 0x1.39a034d645a1ep-3,
                                   0x1.2f158517be637p-3};
    static constexpr double wide[] = {
        0x1.5555555555535p-1, 0x1.99999999a0856p-2, 0x1.2492492084b5ep-2, 0x1.c71c741ff2de3p-3, 0x1.745cb38c441e7p-3,
        0x1.3b1de47a5d9c8p-3, 0x1.10675628d3d06p-3, 0x1.efdeb3ad18a6bp-4, 0x1.5596ea6ded544p-4, 0x1.5c8f834b4dbdbp-3};
};

// k ln 2 + log(1 + f), written so that the large terms f and f^2 / 2 carry no rounding error.
template <class T>
inline Batch<T> log_of_parts(const Batch<T>& k, const Batch<T>& f) {
    const Batch<T> s = f / (Batch<T>(T(2)) + f), z = s * s, square = Batch<T>(T(0.5)) * f * f;
    const Batch<T> tail = multiply_add(z, polynomial(z, LogConstants<T>::p), square);
    const Batch<T> small = multiply_add(s, tail, Batch<T>(k * Batch<T>(Log2<T>::low)));
    return multiply_add(k, Batch<T>(Log2<T>::high), Batch<T>(f - (square - small)));
}

// k and f of a number x > 0, which may be denormal.
template <class T>
struct LogParts {
    Batch<T> k, f;
};
template <class T>
inline LogParts<T> log_parts(const Batch<T>& x) {
    constexpr int up = Format<T>::mantissa + 2;
    const auto denormal = x < Batch<T>(std::numeric_limits<T>::min());
    const auto [mantissa, biased] = split<T>(xsimd::select(denormal, x * Batch<T>(T(Word<T>{1} << up)), x));
    const Batch<T> shift = xsimd::select(denormal, Batch<T>(T(up)), Batch<T>(T(0)));
    return {to_number<T>(biased) - shift, mantissa - Batch<T>(T(1))};
}

template <class T>
inline Batch<T> log(const Batch<T>& x) {
    const auto [k, f] = log_parts(x);
    const Batch<T> zero(T(0)), large(infinity<T>);
    const Batch<T> special = xsimd::select(x == zero, -large, xsimd::select(x == large, large, Batch<T>(nan<T>)));
    return xsimd::select(x > zero && x < large, log_of_parts(k, f), special);
}

// log(1 + x): k comes from 1 + x, and f = 2^-k (1 + x) - 1 = 2^-k x + (2^-k - 1) from x itself, without rounding 1 + x.
template <class T>
inline Batch<T> log1p(const Batch<T>& x) {
    const Batch<T> one(T(1)), quarter(T(0.25)), large(infinity<T>);
    const Bits<T> biased = split<T>(one + x).biased;
    const Batch<T> scale = power_of_two<T>(Bits<T>(Word<T>{2 * Format<T>::bias + 2}) - biased);  // 4 2^-k
    const Batch<T> f = multiply_add(Batch<T>(quarter * x), scale, multiply_add(quarter, scale, -one));
    const Batch<T> y = log_of_parts<T>(to_number<T>(biased), f);
    const Batch<T> special = xsimd::select(x == -one, -large, xsimd::select(x == large, large, Batch<T>(nan<T>)));
    const Batch<T> near_zero = xsimd::select(xsimd::abs(x) < Batch<T>(std::numeric_limits<T>::epsilon() / 8), x, y);
    return xsimd::select(x > -one && x < large, near_zero, special);
}

// log(1 + exp(-|x|)), which is log(1 + e) with 0 <= e <= 1
template <class T>
inline Batch<T> log1p_exp_minus_abs(const Batch<T>& x) {
    const Batch<T> e = kernels::exp<T>(-xsimd::abs(x));
    const Batch<T> s = e / (Batch<T>(T(2)) + e), z = s * s;
    return subtract_product(s, subtract_product(z, long_polynomial(z, LogConstants<T>::wide), e), e);
}

}  // namespace pollen::kernels
