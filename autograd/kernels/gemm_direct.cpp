#include <pollen/autograd/kernels/gemm_direct.hpp>

#include <pollen/autograd/kernels/registers.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

constexpr Int packed_limit = 2048;  // Elements of B^T that are copied onto the stack.

template <class T>
struct Operands {
    const T* a;  // A(r, p) is at a[r * row_a + p * step_a].
    Int row_a, step_a;
    const T* b;  // B(p, j) is at b[p * step_b + j].
    Int step_b;
    const T* last;  // But the last vector of columns is at last[p * step_last].
    Int step_last;
    T* c;
    Int ldc;
    Int k;
    T alpha, beta;
    Int last_columns;  // How many columns the last vector has.
};

// c = sums + beta c for the columns of a last vector that is not full.
template <class T>
[[gnu::noinline]] void store_partial(Int rows, const T* sums, T* c, Int ldc, Int columns, T beta) {
    for (Int r = 0; r < rows; ++r, sums += lanes<T>, c += ldc) {
        Batch<T> y = Batch<T>::load_aligned(sums);
        if (beta != T{0}) y = xsimd::fma(Batch<T>(beta), load_first(c, columns), y);
        store_first(c, y, columns);
    }
}

template <class T>
inline void store(T* c, Batch<T> sum, T beta) {
    if (beta != T{0}) sum = xsimd::fma(Batch<T>(beta), Batch<T>::load_unaligned(c), sum);
    sum.store_unaligned(c);
}

// A tile of R rows and V vectors of columns, whose sums stay in registers while p runs over the inner dimension:
//     C(r, v) = alpha sum_p A(r, p) B(p, v) + beta C(r, v)
template <class T, int R, int V>
void tile(const Operands<T>& o) {
    constexpr Int W = lanes<T>;
    const Int row_a = o.row_a, step_a = o.step_a, step_b = o.step_b, step_last = o.step_last, ldc = o.ldc;
    const T beta = o.beta;
    T* c = o.c;
    Batch<T> sum[R][V];
    unroll<R * V>([&](auto i) POLLEN_INLINE { sum[i / V][i % V] = Batch<T>(T{0}); });
    const T* a = o.a;
    const T* b = o.b;
    const T* last = o.last;
    for (Int p = 0; p < o.k; ++p, a += step_a, b += step_b, last += step_last) {
        Batch<T> row[V];
        unroll<V>([&](auto v) POLLEN_INLINE {
            row[v] = Batch<T>::load_unaligned(v < V - 1 ? b + v * W : last);
            pin<T>(row[v]);
        });
        unroll<R>([&](auto r) POLLEN_INLINE {
            const Batch<T> x(a[r * row_a]);
            unroll<V>([&](auto v) POLLEN_INLINE { sum[r][v] = xsimd::fma(x, row[v], sum[r][v]); });
        });
    }
    const Batch<T> alpha(o.alpha);
    const bool full = o.last_columns == W;
    alignas(64) T rest[R * W];
    unroll<R * V>([&](auto i) POLLEN_INLINE {
        const Batch<T> y = alpha * sum[i / V][i % V];
        if (i % V < V - 1 || full)
            store(c + i / V * ldc + i % V * W, y, beta);
        else
            y.store_aligned(rest + i / V * W);
    });
    if (!full) store_partial(R, rest, c + (V - 1) * W, ldc, o.last_columns, beta);
}

// With these the sums, a row of B and an element of A fill the sixteen registers of AVX2.
constexpr int max_vectors = 3;
constexpr int max_rows(Int vectors) { return vectors == 1 ? 8 : vectors == 2 ? 6 : 4; }

template <class T, int V>
void tile_of(Int rows, const Operands<T>& o) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        static constexpr std::array table{tile<T, static_cast<int>(I) + 1, V>...};
        table[static_cast<std::size_t>(rows - 1)](o);
    }
    (std::make_index_sequence<max_rows(V)>());
}

// to(j, i) = from(i, j), in squares of four by four.
template <class T>
void transpose(Int rows, Int columns, const T* from, Int ld_from, T* to, Int ld_to) {
    typedef T Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias));
    const auto row = [](auto* p) { return reinterpret_cast<Four*>(const_cast<T*>(p)); };
    Int i = 0;
    for (; i + 4 <= rows; i += 4) {
        Int j = 0;
        for (; j + 4 <= columns; j += 4) {
            const Four r0 = *row(from + i * ld_from + j), r1 = *row(from + (i + 1) * ld_from + j);
            const Four r2 = *row(from + (i + 2) * ld_from + j), r3 = *row(from + (i + 3) * ld_from + j);
            const Four even01 = __builtin_shufflevector(r0, r1, 0, 4, 2, 6);
            const Four odd01 = __builtin_shufflevector(r0, r1, 1, 5, 3, 7);
            const Four even23 = __builtin_shufflevector(r2, r3, 0, 4, 2, 6);
            const Four odd23 = __builtin_shufflevector(r2, r3, 1, 5, 3, 7);
            *row(to + j * ld_to + i) = __builtin_shufflevector(even01, even23, 0, 1, 4, 5);
            *row(to + (j + 1) * ld_to + i) = __builtin_shufflevector(odd01, odd23, 0, 1, 4, 5);
            *row(to + (j + 2) * ld_to + i) = __builtin_shufflevector(even01, even23, 2, 3, 6, 7);
            *row(to + (j + 3) * ld_to + i) = __builtin_shufflevector(odd01, odd23, 2, 3, 6, 7);
        }
        for (; j < columns; ++j)
            for (int q = 0; q < 4; ++q) to[j * ld_to + i + q] = from[(i + q) * ld_from + j];
    }
    for (; i < rows; ++i)
        for (Int j = 0; j < columns; ++j) to[j * ld_to + i] = from[i * ld_from + j];
}

}  // namespace

bool prefers_direct(Int m, Int n, Int k) {
    constexpr Int small = 48 * 48 * 48;
    return m <= 12 || n <= 24 || k <= 16 || (m * n <= small && m * n * k <= small);
}

template <class T>
void gemm_direct(bool trans_a, bool trans_b, Int m, Int n, Int k, T alpha, const T* a, Int lda, const T* b, Int ldb,
                 T beta, T* c, Int ldc) {
    constexpr Int W = lanes<T>;
    if (trans_b && k > 0) {  // No more columns at a time than there is room for.
        const Int most = std::max(max_vectors * W, packed_limit / k / W * W);
        for (; n > most; n -= most, b += most * ldb, c += most)
            gemm_direct(trans_a, trans_b, m, most, k, alpha, a, lda, b, ldb, beta, c, ldc);
    }
    const Int padded = (n + W - 1) / W * W;
    const Int rest = n % W;

    // B^T, or the columns of B that do not fill a vector, are copied with zeros behind them, as much as there is room
    // for.
    alignas(64) T packed[packed_limit];
    const Int depth = packed_limit / (trans_b ? padded : W);
    for (; k > depth; k -= depth, beta = T{1}) {
        gemm_direct(trans_a, trans_b, m, n, depth, alpha, a, lda, b, ldb, beta, c, ldc);
        a += depth * (trans_a ? lda : 1);
        b += depth * (trans_b ? 1 : ldb);
    }
    const T* last = packed;
    Int step_last = W;
    if (trans_b) {
        for (Int p = 0; p < k; ++p) Batch<T>(T{0}).store_aligned(packed + (p + 1) * padded - W);
        transpose(n, k, b, ldb, packed, padded);
        b = packed;
        last = packed + padded - W;
        ldb = step_last = padded;
    } else if (rest != 0) {
        for (Int p = 0; p < k; ++p) load_first(b + p * ldb + n - rest, rest).store_aligned(packed + p * W);
    }

    for (Int j = 0; j < n; j += max_vectors * W) {
        const Int vectors = std::min<Int>((n - j + W - 1) / W, max_vectors);
        const Int first_of_last = j + (vectors - 1) * W;
        const bool partial = first_of_last + W > n;
        Operands<T> o{a,
                      trans_a ? 1 : lda,
                      trans_a ? lda : 1,
                      b + j,
                      ldb,
                      partial ? last : b + first_of_last,
                      partial ? step_last : ldb,
                      c + j,
                      ldc,
                      k,
                      alpha,
                      beta,
                      partial ? rest : W};
        for (Int i = 0; i < m; i += max_rows(vectors)) {
            o.a = a + (trans_a ? i : i * lda);
            o.c = c + i * ldc + j;
            const Int rows = std::min<Int>(m - i, max_rows(vectors));
            vectors == 1 ? tile_of<T, 1>(rows, o) : vectors == 2 ? tile_of<T, 2>(rows, o) : tile_of<T, 3>(rows, o);
        }
    }
}

template void gemm_direct(bool, bool, Int, Int, Int, float, const float*, Int, const float*, Int, float, float*, Int);
template void gemm_direct(bool, bool, Int, Int, Int, double, const double*, Int, const double*, Int, double, double*,
                          Int);

}  // namespace pollen::kernels
