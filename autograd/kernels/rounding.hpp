#pragma once

#include <xsimd/xsimd.hpp>

// How often a sum of products is rounded. Left to itself a compiler fuses a multiplication with an addition that
// follows wherever it sees fit. Kernels that promise the same bits everywhere say what they mean.
namespace pollen::kernels {

// x y + z, rounded once on every machine that can. xsimd 8.1 has no fused operation for AVX-512.
template <class T, class A>
inline xsimd::batch<T, A> multiply_add(const xsimd::batch<T, A>& x, const xsimd::batch<T, A>& y,
                                       const xsimd::batch<T, A>& z) {
#if defined(__AVX512F__)
    if constexpr (sizeof(xsimd::batch<T, A>) == 64) {
        if constexpr (sizeof(T) == 4)
            return _mm512_fmadd_ps(x, y, z);
        else
            return _mm512_fmadd_pd(x, y, z);
    }
#endif
    return xsimd::fma(x, y, z);
}

// x y - z, in the same way.
template <class T, class A>
inline xsimd::batch<T, A> multiply_subtract(const xsimd::batch<T, A>& x, const xsimd::batch<T, A>& y,
                                            const xsimd::batch<T, A>& z) {
#if defined(__AVX512F__)
    if constexpr (sizeof(xsimd::batch<T, A>) == 64) {
        if constexpr (sizeof(T) == 4)
            return _mm512_fmsub_ps(x, y, z);
        else
            return _mm512_fmsub_pd(x, y, z);
    }
#endif
    return xsimd::fms(x, y, z);
}

// z - x y, in the same way.
template <class T, class A>
inline xsimd::batch<T, A> subtract_product(const xsimd::batch<T, A>& x, const xsimd::batch<T, A>& y,
                                           const xsimd::batch<T, A>& z) {
#if defined(__AVX512F__)
    if constexpr (sizeof(xsimd::batch<T, A>) == 64) {
        if constexpr (sizeof(T) == 4)
            return _mm512_fnmadd_ps(x, y, z);
        else
            return _mm512_fnmadd_pd(x, y, z);
    }
#endif
    return xsimd::fnma(x, y, z);
}

// x, with nothing left to fuse: the multiplication that made it has been rounded.
template <class T, class A>
inline xsimd::batch<T, A> rounded(xsimd::batch<T, A> x) {
#if defined(__x86_64__)
    asm("" : "+v"(x.data));
#endif
    return x;
}

}  // namespace pollen::kernels
