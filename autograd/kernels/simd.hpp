#pragma once

#include <xsimd/xsimd.hpp>

#include <bit>
#include <concepts>

// xsimd, with the same results on every CPU. Kernels include it by way of this header. What xsimd 8.1 computes in
// another way for one instruction set is replaced here for the set that is compiled for:
//
//   x / y, sqrt(x)           correctly rounded                            NEON: estimates for float
//   fma(x, y, z) = x y + z, fms = x y - z, fnma = z - x y
//                            rounded once                                 AVX-512, and fnma of NEON: twice
//   max(x, y) = x > y ? x : y, min(x, y) = x < y ? x : y
//                            y if one is NaN or both are zero             NEON: NaN, and the zero by its sign
//   -x                       turns the sign                               AVX-512: 0 - x, which is +0 for +0
//   x != y                   true if one is NaN                           AVX2, AVX-512: false
//   floor, ceil, trunc, nearbyint
//                            keep the sign of a zero                      NEON: lose it
//
// The functions are overloads for the batches that are compiled for, and the operators are specialisations: a kernel
// needs no other names, and cannot forget them. tests/autograd/test_simd.cpp compares each with its scalar definition.
namespace xsimd {

template <std::floating_point T>
using native_batch = batch<T, default_arch>;

#define POLLEN_REPLACES \
    template <>         \
    __attribute__((always_inline)) inline

#if defined(__AVX512F__)

template <std::floating_point T>
inline native_batch<T> fma(native_batch<T> const& x, native_batch<T> const& y, native_batch<T> const& z) noexcept {
    if constexpr (sizeof(T) == 4)
        return _mm512_fmadd_ps(x, y, z);
    else
        return _mm512_fmadd_pd(x, y, z);
}

template <std::floating_point T>
inline native_batch<T> fms(native_batch<T> const& x, native_batch<T> const& y, native_batch<T> const& z) noexcept {
    if constexpr (sizeof(T) == 4)
        return _mm512_fmsub_ps(x, y, z);
    else
        return _mm512_fmsub_pd(x, y, z);
}

template <std::floating_point T>
inline native_batch<T> fnma(native_batch<T> const& x, native_batch<T> const& y, native_batch<T> const& z) noexcept {
    if constexpr (sizeof(T) == 4)
        return _mm512_fnmadd_ps(x, y, z);
    else
        return _mm512_fnmadd_pd(x, y, z);
}

POLLEN_REPLACES native_batch<float> native_batch<float>::operator-() const noexcept {
    return *this ^ native_batch<float>(-0.0f);
}
POLLEN_REPLACES native_batch<double> native_batch<double>::operator-() const noexcept {
    return *this ^ native_batch<double>(-0.0);
}

POLLEN_REPLACES batch_bool<float> native_batch<float>::operator!=(native_batch<float> const& y) const noexcept {
    return _mm512_cmp_ps_mask(*this, y, _CMP_NEQ_UQ);
}
POLLEN_REPLACES batch_bool<double> native_batch<double>::operator!=(native_batch<double> const& y) const noexcept {
    return _mm512_cmp_pd_mask(*this, y, _CMP_NEQ_UQ);
}

#elif defined(__AVX2__)

POLLEN_REPLACES batch_bool<float> native_batch<float>::operator!=(native_batch<float> const& y) const noexcept {
    return _mm256_cmp_ps(*this, y, _CMP_NEQ_UQ);
}
POLLEN_REPLACES batch_bool<double> native_batch<double>::operator!=(native_batch<double> const& y) const noexcept {
    return _mm256_cmp_pd(*this, y, _CMP_NEQ_UQ);
}

#elif defined(__aarch64__)

POLLEN_REPLACES native_batch<float>& native_batch<float>::operator/=(native_batch<float> const& y) noexcept {
    return *this = vdivq_f32(*this, y);
}

inline native_batch<float> sqrt(native_batch<float> const& x) noexcept { return vsqrtq_f32(x); }

// vfmsq is its first argument less the product of the other two.
inline native_batch<float> fnma(native_batch<float> const& x, native_batch<float> const& y,
                                native_batch<float> const& z) noexcept {
    return vfmsq_f32(z, x, y);
}
inline native_batch<double> fnma(native_batch<double> const& x, native_batch<double> const& y,
                                 native_batch<double> const& z) noexcept {
    return vfmsq_f64(z, x, y);
}

// Computes what xsimd does, which looks for each type in a tuple of a hundred functions and takes the compiler that
// long.
template <class B, class T>
inline B bitwise_cast(batch<T, default_arch> const& x) noexcept {
    return std::bit_cast<typename B::register_type>(x.data);
}

template <std::floating_point T>
inline native_batch<T> max(native_batch<T> const& x, native_batch<T> const& y) noexcept {
    return select(x > y, x, y);
}
template <std::floating_point T>
inline native_batch<T> min(native_batch<T> const& x, native_batch<T> const& y) noexcept {
    return select(x < y, x, y);
}

inline native_batch<float> floor(native_batch<float> const& x) noexcept { return vrndmq_f32(x); }
inline native_batch<double> floor(native_batch<double> const& x) noexcept { return vrndmq_f64(x); }
inline native_batch<float> ceil(native_batch<float> const& x) noexcept { return vrndpq_f32(x); }
inline native_batch<double> ceil(native_batch<double> const& x) noexcept { return vrndpq_f64(x); }
inline native_batch<float> trunc(native_batch<float> const& x) noexcept { return vrndq_f32(x); }
inline native_batch<double> trunc(native_batch<double> const& x) noexcept { return vrndq_f64(x); }
inline native_batch<float> nearbyint(native_batch<float> const& x) noexcept { return vrndnq_f32(x); }
inline native_batch<double> nearbyint(native_batch<double> const& x) noexcept { return vrndnq_f64(x); }

#else
#error "pollen needs fused multiply-adds: x86-64-v3 (AVX2, FMA) or wider, or aarch64"
#endif

#undef POLLEN_REPLACES

}  // namespace xsimd
