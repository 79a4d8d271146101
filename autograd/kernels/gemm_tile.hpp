#pragma once

#include <pollen/autograd/kernels/registers.hpp>
#include <pollen/autograd/kernels/rounding.hpp>

#include <algorithm>

// Tiles of C whose sums stay in registers while p runs over a block of the inner dimension.
namespace pollen::kernels {

// Products sum over blocks of this many p. It is part of what a product is: see gemm.hpp.
inline constexpr std::int64_t inner_block = 256;

// c = beta c + y for the columns of a last vector that is not full.
template <class T>
[[gnu::noinline]] void store_partial(std::int64_t rows, const T* y, T* c, std::int64_t ldc, std::int64_t columns,
                                     T beta) {
    for (std::int64_t r = 0; r < rows; ++r, y += lanes<T>, c += ldc) {
        Batch<T> v = Batch<T>::load_aligned(y);
        if (beta != T{0}) v = multiply_add(Batch<T>(beta), load_first(c, columns), v);
        store_first(c, v, columns);
    }
}

// C(r, v) = beta C(r, v) + y(r V + v) for R rows and V vectors, of which the last has `last` columns.
template <class T, int R, int V, class F>
POLLEN_INLINE inline void store_vectors(T* c, std::int64_t ldc, std::int64_t last, T beta, const F& y) {
    constexpr std::int64_t W = lanes<T>;
    const bool full = last == W;
    [[maybe_unused]] alignas(64) T rest[R * W];
    unroll<R * V>([&](auto i) POLLEN_INLINE {
        T* to = c + i / V * ldc + i % V * W;
        Batch<T> x = y(i);
        if (i % V < V - 1 || full) {
            if (beta != T{0}) x = multiply_add(Batch<T>(beta), Batch<T>::load_unaligned(to), x);
            x.store_unaligned(to);
        } else if constexpr (stores_few<T>) {
            if (beta != T{0}) x = multiply_add(Batch<T>(beta), load_first(to, last), x);
            store_first(to, x, last);
        } else {
            x.store_aligned(rest + i / V * W);
        }
    });
    if constexpr (!stores_few<T>)
        if (!full) store_partial(R, rest, c + (V - 1) * W, ldc, last, beta);
}

// C = beta C + alpha S for R rows and V vectors, of which the last has `last` columns.
template <class T, int R, int V>
POLLEN_INLINE inline void store_tile(const Batch<T> (&sum)[R][V], T* c, std::int64_t ldc, std::int64_t last, T alpha,
                                     T beta) {
    store_vectors<T, R, V>(c, ldc, last, beta,
                           [&](auto i) POLLEN_INLINE { return Batch<T>(alpha) * sum[i / V][i % V]; });
}

// C = S + b, or the larger of that and 0. NaN stays.
template <class T, int R, int V>
POLLEN_INLINE inline void store_affine(const Batch<T> (&sum)[R][V], T* c, std::int64_t ldc, std::int64_t last,
                                       const T* bias, bool relu) {
    constexpr std::int64_t W = lanes<T>;
    const Batch<T> zero(T{0});
    const auto clipped = relu ? zero <= zero : zero < zero;
    Batch<T> b[V];
    unroll<V>([&](auto v) POLLEN_INLINE {
        b[v] = v < V - 1 ? Batch<T>::load_unaligned(bias + v * W) : load_first(bias + v * W, last);
    });
    store_vectors<T, R, V>(c, ldc, last, T{0}, [&](auto i) POLLEN_INLINE {
        const Batch<T> y = sum[i / V][i % V] + b[i % V];
        return xsimd::select((y <= zero) && clipped, zero, y);
    });
}

}  // namespace pollen::kernels
