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

// C = beta C + alpha S for R rows and V vectors, of which the last has `last` columns.
template <class T, int R, int V>
POLLEN_INLINE inline void store_tile(const Batch<T> (&sum)[R][V], T* c, std::int64_t ldc, std::int64_t last, T alpha,
                                     T beta) {
    constexpr std::int64_t W = lanes<T>;
    const bool full = last == W;
    alignas(64) T rest[R * W];
    unroll<R * V>([&](auto i) POLLEN_INLINE {
        Batch<T> y = Batch<T>(alpha) * sum[i / V][i % V];
        if (i % V < V - 1 || full) {
            T* to = c + i / V * ldc + i % V * W;
            if (beta != T{0}) y = multiply_add(Batch<T>(beta), Batch<T>::load_unaligned(to), y);
            y.store_unaligned(to);
        } else {
            y.store_aligned(rest + i / V * W);
        }
    });
    if (!full) store_partial(R, rest, c + (V - 1) * W, ldc, last, beta);
}

}  // namespace pollen::kernels
