#pragma once

#include <pollen/autograd/kernels/simd.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

// What kernels need beside xsimd to keep their sums in vector registers: loads and stores of the first few lanes, where
// a row does not fill its last vector, and loops that are unrolled for certain.
namespace pollen::kernels {

template <class T>
using Batch = xsimd::batch<T>;

template <class T>
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(Batch<T>::size);

// Inlined early: what GCC sees at once it keeps in registers, as it does arrays of vectors with constant indices.
#define POLLEN_INLINE __attribute__((always_inline))

// The first `count` elements (1 <= count <= lanes) from p on; zeros in the other lanes. Reads nothing behind them.
template <class T>
inline Batch<T> load_first(const T* p, std::int64_t count) {
#if defined(__AVX512F__)
    const auto mask = static_cast<std::uint32_t>((1u << count) - 1u);
    if constexpr (sizeof(T) == 4)
        return _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), p);
    else
        return _mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), p);
#elif defined(__AVX2__)
    alignas(64) static constexpr std::int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const auto* from = reinterpret_cast<const __m256i*>(ones + (lanes<T> - count) * static_cast<int>(sizeof(T) / 4));
    const __m256i mask = _mm256_loadu_si256(from);
    if constexpr (sizeof(T) == 4)
        return _mm256_maskload_ps(p, mask);
    else
        return _mm256_maskload_pd(p, mask);
#else
    alignas(64) T whole[lanes<T>] = {};
    for (std::int64_t i = 0; i < count; ++i) whole[i] = p[i];
    return Batch<T>::load_aligned(whole);
#endif
}

// The same, with p[0] in the other lanes: for functions that are not to see a number that is not among them.
template <class T>
inline Batch<T> load_first_repeated(const T* p, std::int64_t count) {
#if defined(__AVX512F__)
    const auto mask = static_cast<std::uint32_t>((1u << count) - 1u);
    if constexpr (sizeof(T) == 4)
        return _mm512_mask_loadu_ps(_mm512_set1_ps(*p), static_cast<__mmask16>(mask), p);
    else
        return _mm512_mask_loadu_pd(_mm512_set1_pd(*p), static_cast<__mmask8>(mask), p);
#else
    alignas(64) T whole[lanes<T>];
    for (std::int64_t k = 0; k < lanes<T>; ++k) whole[k] = p[k < count ? k : 0];
    return Batch<T>::load_aligned(whole);
#endif
}

// Whether storing the first few lanes takes one instruction.
template <class T>
#if defined(__AVX512F__)
inline constexpr bool stores_few = true;
#else
inline constexpr bool stores_few = false;
#endif

// The first `count` lanes of v to p on. Writes nothing behind them.
template <class T>
inline void store_first(T* p, Batch<T> v, std::int64_t count) {
#if defined(__AVX512F__)
    const auto mask = static_cast<std::uint32_t>((1u << count) - 1u);
    if constexpr (sizeof(T) == 4)
        _mm512_mask_storeu_ps(p, static_cast<__mmask16>(mask), v);
    else
        _mm512_mask_storeu_pd(p, static_cast<__mmask8>(mask), v);
#else
    alignas(64) T whole[lanes<T>];
    v.store_aligned(whole);
    const T* from = whole;
    for (std::int64_t part = lanes<T>; part > 0; part /= 2) {
        if ((count & part) == 0) continue;
        std::memcpy(p, from, static_cast<std::size_t>(part) * sizeof(T));
        p += part;
        from += part;
    }
#endif
}

// Keeps a loaded vector in its register. GCC would rather read it again from memory at every use, and an inner loop
// that uses it several times is then bound by its loads.
template <class T>
inline void pin([[maybe_unused]] Batch<T>& v) {
#if defined(__x86_64__)
    asm("" : "+v"(v.data));
#endif
}

// f(j) for j = 0, some, 2 some, ... such that [j, j + some) are the n >= some numbers. The last stretch may overlap the
// one before it.
template <class F>
POLLEN_INLINE inline void each_stretch(std::int64_t n, std::int64_t some, const F& f) {
    for (std::int64_t j = 0; j < n; j = j + some < n ? std::min(j + some, n - some) : n) f(j);
}

// f(0), ..., f(N-1) with constant indices: an array of vectors indexed by them stays in registers.
template <int N, class F>
POLLEN_INLINE inline void unroll(F&& f) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    for (int i = 0; i < N; ++i) f(i);  // The checks would be unrolled too, and take GCC minutes.
#else
    [&]<int... I>(std::integer_sequence<int, I...>) POLLEN_INLINE { (f(std::integral_constant<int, I>{}), ...); }
    (std::make_integer_sequence<int, N>{});
#endif
}

}  // namespace pollen::kernels
