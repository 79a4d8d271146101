#pragma once

#include <pollen/autograd/kernels/registers.hpp>

#include <algorithm>
#include <array>

// Sums that do not depend on the width of the CPU's vectors.
//
// A sum over many numbers runs in a fixed number of lanes, 16 of floats or 8 of doubles, on every CPU. Lane k adds the
// numbers k, k + 16, k + 32, ...; in the end the lanes are added in one fixed tree. They are one register of 512 bits,
// two of 256 or four of 128.
namespace pollen::kernels {

#ifndef POLLEN_SUM_BYTES
#define POLLEN_SUM_BYTES 64  // tests/fingerprints has a broken twin with 128
#endif
template <class T>
inline constexpr std::int64_t sum_lanes = POLLEN_SUM_BYTES / sizeof(T);

// How many vectors hold them.
template <class T>
inline constexpr int parts = static_cast<int>(sum_lanes<T> / lanes<T>);

template <class T>
struct Lanes {
    std::array<Batch<T>, parts<T>> part;

    Lanes() = default;
    POLLEN_INLINE explicit Lanes(T x) { part.fill(Batch<T>(x)); }
};

// f(p) for each part p.
template <class T, class F>
POLLEN_INLINE inline void each_part(const F& f) {
    unroll<parts<T>>([&](auto p) POLLEN_INLINE { f(static_cast<std::size_t>(p)); });
}

// The lanes f(p) for each part p.
template <class T, class F>
POLLEN_INLINE inline Lanes<T> lanes_of(const F& f) {
    Lanes<T> out;
    each_part<T>([&](std::size_t p) POLLEN_INLINE { out.part[p] = f(static_cast<std::int64_t>(p)); });
    return out;
}

// A batch of zeros, one of ones and one of zeros: a window into it marks the first or the last lanes of a batch.
template <class T>
inline constexpr auto lane_marks = [] {
    std::array<T, 3 * Batch<T>::size> marks{};
    for (std::size_t k = 0; k < Batch<T>::size; ++k) marks[Batch<T>::size + k] = T(1);
    return marks;
}();

// x in its first, or last, n lanes and the identity of Op elsewhere.
template <class Op, class T>
Batch<T> first_lanes(std::int64_t n, const Batch<T>& x) {
    const T* marks = lane_marks<T>.data() + 2 * lanes<T> - n;
    return xsimd::select(Batch<T>::load_unaligned(marks) > Batch<T>(0), x, Batch<T>(Op::template identity<T>));
}
template <class Op, class T>
Batch<T> last_lanes(std::int64_t n, const Batch<T>& x) {
    const T* marks = lane_marks<T>.data() + n;
    return xsimd::select(Batch<T>::load_unaligned(marks) > Batch<T>(0), x, Batch<T>(Op::template identity<T>));
}

// x in its last n lanes and y elsewhere.
template <class T>
Batch<T> last_lanes(std::int64_t n, const Batch<T>& x, const Batch<T>& y) {
    return xsimd::select(Batch<T>::load_unaligned(lane_marks<T>.data() + n) > Batch<T>(0), x, y);
}

// How many of the first, or the last, n of all lanes are in part p.
template <class T>
inline std::int64_t first_in_part(std::int64_t n, std::int64_t p) {
    return std::clamp<std::int64_t>(n - p * lanes<T>, 0, lanes<T>);
}
template <class T>
inline std::int64_t last_in_part(std::int64_t n, std::int64_t p) {
    return std::clamp<std::int64_t>(n - (parts<T> - 1 - p) * lanes<T>, 0, lanes<T>);
}

// The lanes combined in a fixed tree: lane k with lane k + 8, then k with k + 4, k with k + 2, 0 with 1.
template <class Op, class T>
T tree(const Lanes<T>& x) {
    alignas(64) T lane[sum_lanes<T>];
    each_part<T>([&](std::size_t p) POLLEN_INLINE { x.part[p].store_aligned(lane + p * Batch<T>::size); });
    for (std::int64_t half = sum_lanes<T> / 2; half > 0; half /= 2) {
        for (std::int64_t k = 0; k < half; ++k) lane[k] = Op::combine(lane[k], lane[k + half]);
    }
    return lane[0];
}

// The sum of the lanes. 16 lanes become 8, and 8 become 4, by adding lane k + 8, or k + 4, to lane k. The last four are
// added as (0 + 1) + (2 + 3) in float and as (0 + 2) + (1 + 3) in double: the order of the instructions of x86.
template <class T>
POLLEN_INLINE inline T sum_of(Lanes<T> x) {
    for (std::size_t half = parts<T> / 2; half > 0; half /= 2)
        for (std::size_t p = 0; p < half; ++p) x.part[p] += x.part[p + half];
    const Batch<T> sum = x.part[0];
#if defined(__AVX512F__)
    using Half = xsimd::batch<T, xsimd::avx2>;
    const auto v = sum.data;
    if constexpr (sizeof(T) == 4)
        return xsimd::hadd(Half(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7)) +
                           Half(__builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)));
    else
        return xsimd::hadd(Half(__builtin_shufflevector(v, v, 0, 1, 2, 3)) +
                           Half(__builtin_shufflevector(v, v, 4, 5, 6, 7)));
#elif defined(__AVX2__)
    return xsimd::hadd(sum);
#else
    alignas(64) T lane[Batch<T>::size];
    sum.store_aligned(lane);
    if constexpr (sizeof(T) == 4)
        return (lane[0] + lane[1]) + (lane[2] + lane[3]);
    else
        return lane[0] + lane[1];
#endif
}

// out[r] = sum_of(x[r]) for each r, with the same bits. Sums of eight registers, or four of AVX2, are made together:
// each step adds the halves of two registers and puts the results into one.
template <class T, std::size_t R>
POLLEN_INLINE inline void sums_of(const std::array<Lanes<T>, R>& x, T* out) {
#if defined(__AVX512F__)
    if constexpr (R == 8 && sizeof(T) == 8) {
        const auto halves = [](const auto& a, const auto& b) POLLEN_INLINE {
            return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
                   __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
        };
        const auto quarters = [](const auto& a, const auto& b) POLLEN_INLINE {
            return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
                   __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
        };
        const auto row = [&](std::size_t r) POLLEN_INLINE { return x[r].part[0].data; };
        const auto even = quarters(halves(row(0), row(4)), halves(row(2), row(6)));
        const auto odd = quarters(halves(row(1), row(5)), halves(row(3), row(7)));
        const auto sums = __builtin_shufflevector(even, odd, 0, 8, 2, 10, 4, 12, 6, 14) +
                          __builtin_shufflevector(even, odd, 1, 9, 3, 11, 5, 13, 7, 15);
        return Batch<T>(sums).store_unaligned(out);
    }
#elif defined(__AVX2__)
    if constexpr (R == 4 && sizeof(T) == 8) {
        const auto row = [&](std::size_t r) POLLEN_INLINE { return Batch<T>(x[r].part[0] + x[r].part[1]).data; };
        const auto halves = [](const auto& a, const auto& b) POLLEN_INLINE {
            return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
        };
        const auto even = halves(row(0), row(2)), odd = halves(row(1), row(3));
        const auto sums =
            __builtin_shufflevector(even, odd, 0, 4, 2, 6) + __builtin_shufflevector(even, odd, 1, 5, 3, 7);
        return Batch<T>(sums).store_unaligned(out);
    }
#endif
    for (std::size_t r = 0; r < R; ++r) out[r] = sum_of(x[r]);
}

}  // namespace pollen::kernels
