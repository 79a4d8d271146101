#include <pollen/autograd/kernels/matrix_by_vector.hpp>

#include <pollen/autograd/kernels/gemm_tile.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

// Each element of C is one chain of sums along p, see gemm.hpp. So vectors run along C, but the numbers of a row of the
// stored matrix are neighbours along p: squares of the matrix are transposed in registers.
namespace pollen::kernels {

namespace {

using Int = std::int64_t;

// One number from each row of a square.
template <class T>
using Row __attribute__((vector_size(32))) = T;
template <class T>
constexpr Int side = 32 / sizeof(T);
template <class T>
constexpr Int width = side<T> / 2;

// x y + z, rounded once
template <class T>
POLLEN_INLINE inline Row<T> fma_row(const Row<T>& x, T y, const Row<T>& z) {
#if defined(__FMA__)
    if constexpr (sizeof(T) == 4)
        return (Row<T>)_mm256_fmadd_ps((__m256)x, _mm256_set1_ps(y), (__m256)z);
    else
        return (Row<T>)_mm256_fmadd_pd((__m256d)x, _mm256_set1_pd(y), (__m256d)z);
#else
    Row<T> sum;
    for (int i = 0; i < side<T>; ++i) sum[i] = std::fma(x[i], y, z[i]);
    return sum;
#endif
}

// Half a row from each of two places. By intrinsics: g++ would load both and shuffle them, which is slower.
template <class T>
POLLEN_INLINE inline Row<T> joined(const T* low, const T* high) {
#if defined(__AVX__)
    const auto load = [](const T* p) POLLEN_INLINE { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); };
    return (Row<T>)_mm256_inserti128_si256(_mm256_castsi128_si256(load(low)), load(high), 1);
#else
    Row<T> row;
    std::memcpy(&row, low, sizeof row / 2);
    std::memcpy(reinterpret_cast<char*>(&row) + sizeof row / 2, high, sizeof row / 2);
    return row;
#endif
}

// The same pointer. The compiler does not see that, and cannot keep a pointer to every row instead of few.
template <class T>
POLLEN_INLINE inline const T* kept(const T* p) {
    asm("" : "+r"(p));
    return p;
}

// column[j][i] = row(i)[j] for `side` rows i and `width` columns j. Row i and row i + width are loaded into one vector,
// so that no other instruction crosses its halves.
template <class T, class F>
POLLEN_INLINE inline void transpose_half(const F& row, Row<T> (&column)[width<T>]) {
    Row<T> r[width<T>];
    for (Int k = 0; k < width<T>; ++k) r[k] = joined(row(k), row(k + width<T>));
    if constexpr (sizeof(T) == 4) {
        const Row<T> s0 = __builtin_shufflevector(r[0], r[1], 0, 8, 1, 9, 4, 12, 5, 13);
        const Row<T> s1 = __builtin_shufflevector(r[0], r[1], 2, 10, 3, 11, 6, 14, 7, 15);
        const Row<T> s2 = __builtin_shufflevector(r[2], r[3], 0, 8, 1, 9, 4, 12, 5, 13);
        const Row<T> s3 = __builtin_shufflevector(r[2], r[3], 2, 10, 3, 11, 6, 14, 7, 15);
        column[0] = __builtin_shufflevector(s0, s2, 0, 1, 8, 9, 4, 5, 12, 13);
        column[1] = __builtin_shufflevector(s0, s2, 2, 3, 10, 11, 6, 7, 14, 15);
        column[2] = __builtin_shufflevector(s1, s3, 0, 1, 8, 9, 4, 5, 12, 13);
        column[3] = __builtin_shufflevector(s1, s3, 2, 3, 10, 11, 6, 7, 14, 15);
    } else {
        column[0] = __builtin_shufflevector(r[0], r[1], 0, 4, 2, 6);
        column[1] = __builtin_shufflevector(r[0], r[1], 1, 5, 3, 7);
    }
}

// The sums of `length` p for S squares of rows, and for U blocks of p at once: S U chains that do not wait for each
// other. If the squares are not whole, the last row is read again in the place of those that are missing.
template <class T, int S, int U, bool whole>
void squares(Int rows, Int length, T alpha, const T* x, const T* b, Int ldb, T beta, T* c) {
    const T* given[S * side<T>];
    if constexpr (!whole)
        for (Int r = 0; r < S * side<T>; ++r) given[r] = b + std::min(rows - 1, r) * ldb;
    Row<T> sum[S][U] = {};
    Int p = 0;
    for (; p + width<T> <= length; p += width<T>)
        unroll<S * U>([&](auto i) POLLEN_INLINE {
            const Int s = i / U, at = p + i % U * inner_block;
            Row<T> column[width<T>];
            if constexpr (whole) {
                const T *first = kept(b + s * side<T> * ldb + at), *second = kept(first + width<T> * ldb);
                const auto row = [&](Int k) POLLEN_INLINE {
                    return k < width<T> ? first + k * ldb : second + (k - width<T>)*ldb;
                };
                transpose_half<T>(row, column);
            } else {
                transpose_half<T>([&](Int k) POLLEN_INLINE { return given[s * side<T> + k] + at; }, column);
            }
            for (Int k = 0; k < width<T>; ++k) sum[s][i % U] = fma_row<T>(column[k], x[at + k], sum[s][i % U]);
        });
    for (; p < length; ++p)
        unroll<S * U>([&](auto i) POLLEN_INLINE {
            const Int s = i / U, at = p + i % U * inner_block;
            Row<T> column;
            for (Int k = 0; k < side<T>; ++k)
                column[k] = whole ? b[(s * side<T> + k) * ldb + at] : given[s * side<T> + k][at];
            sum[s][i % U] = fma_row<T>(column, x[at], sum[s][i % U]);
        });
    for (Int r = 0; r < rows; ++r) {
        const int s = static_cast<int>(r / side<T>), k = static_cast<int>(r % side<T>);
        T y = alpha * sum[s][0][k];
        if (beta != T{0}) y = std::fma(beta, c[r], y);
        for (int u = 1; u < U; ++u) y += alpha * sum[s][u][k];
        c[r] = y;
    }
}

// S squares of rows, all p.
template <class T, int S, int U>
void all_blocks(const Product<T>& p, Int row, Int rows) {
    T beta = p.beta;
    for (Int q = 0; q < p.k; beta = T{1}) {
        const bool several = q + U * inner_block <= p.k;
        const T* b = p.b + row * p.ldb + q;
        const auto sum = rows == S * side<T> ? (several ? squares<T, S, U, true> : squares<T, S, 1, true>)
                                             : (several ? squares<T, S, U, false> : squares<T, S, 1, false>);
        sum(rows, std::min(inner_block, p.k - q), p.alpha, p.a + q, b, p.ldb, beta, p.c + row);
        q += several ? U * inner_block : inner_block;
    }
}

}  // namespace

template <class T>
void matrix_by_vector(const Product<T>& p) {
    Int row = 0;
    for (; row + 2 * side<T> < p.n; row += 4 * side<T>) all_blocks<T, 4, 1>(p, row, std::min(4 * side<T>, p.n - row));
    if (row + side<T> < p.n)
        all_blocks<T, 2, 2>(p, row, p.n - row);
    else if (row < p.n)
        all_blocks<T, 1, 4>(p, row, p.n - row);
}

template void matrix_by_vector(const Product<float>&);
template void matrix_by_vector(const Product<double>&);

}  // namespace pollen::kernels
