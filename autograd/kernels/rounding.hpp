#pragma once

#include <pollen/autograd/kernels/simd.hpp>

// How often a sum of products is rounded. Left to itself a compiler fuses a multiplication with an addition that
// follows wherever it sees fit. Kernels that promise the same bits everywhere say what they mean.
namespace pollen::kernels {

// x y + z, rounded once.
template <class T, class A>
inline xsimd::batch<T, A> multiply_add(const xsimd::batch<T, A>& x, const xsimd::batch<T, A>& y,
                                       const xsimd::batch<T, A>& z) {
    return xsimd::fma(x, y, z);
}

// x y - z, rounded once.
template <class T, class A>
inline xsimd::batch<T, A> multiply_subtract(const xsimd::batch<T, A>& x, const xsimd::batch<T, A>& y,
                                            const xsimd::batch<T, A>& z) {
    return xsimd::fms(x, y, z);
}

// z - x y, rounded once.
template <class T, class A>
inline xsimd::batch<T, A> subtract_product(const xsimd::batch<T, A>& x, const xsimd::batch<T, A>& y,
                                           const xsimd::batch<T, A>& z) {
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
