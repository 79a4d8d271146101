#include <pollen/autograd/kernels/gemm_direct.hpp>

#include <pollen/autograd/kernels/gemm_tile.hpp>
#include <pollen/autograd/kernels/transpose_tile.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

// Elements of B^T that are copied onto the stack: a block of the inner dimension for the columns of a tile.
template <class T>
constexpr Int packed_limit = 3 * lanes<T>* inner_block;

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
    const T* bias;     // Of an affine map, else null.
    bool relu;
};

// Tiles of R rows and V vectors of columns, one below the other. The sums of a tile stay in registers while p runs over
// the inner dimension:
//     C(r, v) = alpha sum_p A(r, p) B(p, v) + beta C(r, v)
template <class T, int R, int V>
void tiles(const Operands<T>& o, Int count) {
    constexpr Int W = lanes<T>;
    const Int row_a = o.row_a, step_a = o.step_a, step_b = o.step_b, step_last = o.step_last;
    const T* rows = o.a;
    T* c = o.c;
    for (Int t = 0; t < count; ++t, rows += R * row_a, c += R * o.ldc) {
        Batch<T> sum[R][V];
        unroll<R * V>([&](auto i) POLLEN_INLINE { sum[i / V][i % V] = Batch<T>(T{0}); });
        const T* a = rows;
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
                unroll<V>([&](auto v) POLLEN_INLINE { sum[r][v] = multiply_add(x, row[v], sum[r][v]); });
            });
        }
        if (o.bias)
            store_affine<T, R, V>(sum, c, o.ldc, o.last_columns, o.bias, o.relu);
        else
            store_tile<T, R, V>(sum, c, o.ldc, o.last_columns, o.alpha, o.beta);
    }
}

// With these the sums, a row of B and an element of A fill the sixteen registers of AVX2.
constexpr int max_vectors = 3;
constexpr int max_rows(Int vectors) { return vectors == 1 ? 8 : vectors == 2 ? 6 : 4; }

// All rows of a column of tiles: as many tiles with max_rows as there are, and one with the rest.
template <class T, int V>
void column_of_tiles(Int rows, Operands<T> o) {
    constexpr int R = max_rows(V);
    const Int whole = rows / R;
    if (whole > 0) tiles<T, R, V>(o, whole);
    if (whole * R == rows) return;
    o.a += whole * R * o.row_a;
    o.c += whole * R * o.ldc;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        static constexpr std::array table{tiles<T, static_cast<int>(I) + 1, V>...};
        table[static_cast<std::size_t>(rows - whole * R - 1)](o, 1);
    }
    (std::make_index_sequence<R - 1>());
}

// to(j, i) = from(i, j), in squares of four by four.
template <class T>
void transpose_small(Int rows, Int columns, const T* from, Int ld_from, T* to, Int ld_to) {
    using Four __attribute__((vector_size(4 * sizeof(T)), aligned(alignof(T)), may_alias)) = T;
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

// The same, in squares of registers first.
template <class T>
void transpose(Int rows, Int columns, const T* from, Int ld_from, T* to, Int ld_to) {
    constexpr Int side = TransposeSquare<T>::side;
    const Int i = rows / side * side, j = columns / side * side;
    if (i > 0 && j > 0) transpose_tile<T, false>(from, ld_from, to, ld_to, j, i);
    if (i > 0 && j < columns) transpose_small(i, columns - j, from + j, ld_from, to + j * ld_to, ld_to);
    if (i < rows) transpose_small(rows - i, columns, from + i * ld_from, ld_from, to + i, ld_to);
}

// At most inner_block p, and where B is transposed no more columns than there is room for.
template <class T>
void direct_block(const Product<T>& p) {
    constexpr Int W = lanes<T>;
    const Int padded = (p.n + W - 1) / W * W, rest = p.n % W;

    // B^T, or the columns of B that do not fill a vector, are copied with zeros behind them.
    alignas(64) T packed[packed_limit<T>];
    const T *b = p.b, *last = packed;
    Int step_b = p.ldb, step_last = W;
    if (p.trans_b) {
        for (Int q = 0; q < p.k; ++q) Batch<T>(T{0}).store_aligned(packed + (q + 1) * padded - W);
        transpose(p.n, p.k, p.b, p.ldb, packed, padded);
        b = packed;
        last = packed + padded - W;
        step_b = step_last = padded;
    } else if (rest != 0) {
        for (Int q = 0; q < p.k; ++q) load_first(b + q * p.ldb + p.n - rest, rest).store_aligned(packed + q * W);
    }

    for (Int j = 0; j < p.n; j += max_vectors * W) {
        const Int vectors = std::min<Int>((p.n - j + W - 1) / W, max_vectors);
        const Int first_of_last = j + (vectors - 1) * W;
        const bool partial = first_of_last + W > p.n;
        const Operands<T> o{p.a,
                            p.trans_a ? 1 : p.lda,
                            p.trans_a ? p.lda : 1,
                            b + j,
                            step_b,
                            partial ? last : b + first_of_last,
                            partial ? step_last : step_b,
                            p.c + j,
                            p.ldc,
                            p.k,
                            p.alpha,
                            p.beta,
                            partial ? rest : W,
                            p.bias ? p.bias + j : nullptr,
                            p.relu};
        vectors == 1   ? column_of_tiles<T, 1>(p.m, o)
        : vectors == 2 ? column_of_tiles<T, 2>(p.m, o)
                       : column_of_tiles<T, 3>(p.m, o);
    }
}

// A narrow C of a transposed A is computed as C' = op(B)' A: fewer vectors, all of them full. C' is kept aside.
constexpr Int turned_limit = 1024;

template <class T>
bool prefers_turned(const Product<T>& p) {
    constexpr Int W = lanes<T>;
    return p.trans_a && !p.bias && p.n < W && p.m * p.n <= turned_limit && 4 * p.n * parts_of(p.m, W) <= 3 * p.m &&
           p.k >= 2 * p.n;
}

template <class T>
void turned(const Product<T>& p) {
    alignas(64) T held[turned_limit];
    if (p.beta != T{0})
        for (Int i = 0; i < p.m; ++i)
            for (Int j = 0; j < p.n; ++j) held[j * p.m + i] = p.c[i * p.ldc + j];
    gemm_direct<T>({!p.trans_b, false, p.n, p.m, p.k, p.alpha, p.b, p.ldb, p.a, p.lda, p.beta, held, p.m});
    for (Int i = 0; i < p.m; ++i)
        for (Int j = 0; j < p.n; ++j) p.c[i * p.ldc + j] = held[j * p.m + i];
}

}  // namespace

template <class T>
void gemm_direct(const Product<T>& p) {
    if (prefers_turned(p)) return turned(p);
    if (p.k <= inner_block && (!p.trans_b || p.n <= max_vectors * lanes<T>)) return direct_block(p);
    const Int room = packed_limit<T> / std::min(p.k, inner_block) / lanes<T> * lanes<T>;
    const Int columns = p.trans_b ? room : p.n;
    for (Int j = 0; j < p.n; j += columns)
        for (Int q = 0; q < p.k; q += inner_block) {
            Product<T> part = inner_part_of(block_of(p, 0, p.m, j, columns), q, inner_block);
            if (q > 0) part.beta = T{1};
            direct_block(part);
        }
}

template void gemm_direct(const Product<float>&);
template void gemm_direct(const Product<double>&);

}  // namespace pollen::kernels
