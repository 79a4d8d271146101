#include <pollen/autograd/kernels/gemv.hpp>

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/registers.hpp>
#include <pollen/autograd/parallel.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

constexpr Int block_elements = Int{1} << 16;  // What one task reads of the matrix.

// sum_j A(r, j) x(j) for R rows, all at once.
template <class T, int R>
void dots(Int columns, const T* a, Int lda, const T* x, T* out) {
    constexpr Int W = lanes<T>;
    Batch<T> sum[R];
    unroll<R>([&](auto r) POLLEN_INLINE { sum[r] = Batch<T>(T{0}); });
    Int j = 0;
    for (; j + W <= columns; j += W) {
        Batch<T> xj = Batch<T>::load_unaligned(x + j);
        pin<T>(xj);
        unroll<R>([&](auto r)
                      POLLEN_INLINE { sum[r] = xsimd::fma(Batch<T>::load_unaligned(a + r * lda + j), xj, sum[r]); });
    }
    if (j < columns) {
        const Batch<T> xj = load_first(x + j, columns - j);
        unroll<R>([&](auto r)
                      POLLEN_INLINE { sum[r] = xsimd::fma(load_first(a + r * lda + j, columns - j), xj, sum[r]); });
    }
    sums_of_lanes<T, R>(sum, out);
}

// The same for one row, in several sums so that the additions need not wait for each other.
template <class T>
T dot(Int columns, const T* a, const T* x) {
    constexpr Int W = lanes<T>;
    constexpr int U = 8;
    Batch<T> sum[U];
    unroll<U>([&](auto u) POLLEN_INLINE { sum[u] = Batch<T>(T{0}); });
    Int j = 0;
    for (; j + U * W <= columns; j += U * W)
        unroll<U>([&](auto u) POLLEN_INLINE {
            sum[u] =
                xsimd::fma(Batch<T>::load_unaligned(a + j + u * W), Batch<T>::load_unaligned(x + j + u * W), sum[u]);
        });
    for (; j + W <= columns; j += W)
        sum[0] = xsimd::fma(Batch<T>::load_unaligned(a + j), Batch<T>::load_unaligned(x + j), sum[0]);
    if (j < columns) sum[1] = xsimd::fma(load_first(a + j, columns - j), load_first(x + j, columns - j), sum[1]);
    return xsimd::hadd(folded(((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]))));
}

// y(r) = alpha sum_j A(r, j) x(j) + beta y(r)
template <class T>
void rows_by_vector(Int rows, Int columns, T alpha, const T* a, Int lda, const T* x, T beta, T* y) {
    constexpr int R = lanes < T >> 8 ? static_cast<int>(lanes<T>) : 8;
    alignas(64) T out[R];
    for (Int i = 0; i < rows; i += R) {
        const Int count = std::min<Int>(R, rows - i);
        if (count == R)
            dots<T, R>(columns, a + i * lda, lda, x, out);
        else
            for (Int r = 0; r < count; ++r) out[r] = dot(columns, a + (i + r) * lda, x);
        if (beta == T{0})
            for (Int r = 0; r < count; ++r) y[i + r] = alpha * out[r];
        else
            for (Int r = 0; r < count; ++r) y[i + r] = alpha * out[r] + beta * y[i + r];
    }
}

// V vectors of columns, U rows at a time: y(j) = alpha sum_r A(r, j) x(r) + beta y(j).
// last: how many columns the last vector has, if it is not full.
template <class T, int V, int U, bool Full>
void panel(Int rows, Int last, T alpha, const T* a, Int lda, const T* x, T beta, T* y) {
    constexpr Int W = lanes<T>;
    const auto load = [last](const T* row, auto v) POLLEN_INLINE {
        return Full || v < V - 1 ? Batch<T>::load_unaligned(row + v * W) : load_first(row + v * W, last);
    };
    Batch<T> sum[U][V];
    unroll<U * V>([&](auto i) POLLEN_INLINE { sum[i / V][i % V] = Batch<T>(T{0}); });
    Int r = 0;
    for (; r + U <= rows; r += U)
        unroll<U>([&](auto u) POLLEN_INLINE {
            const Batch<T> xr(x[r + u]);
            const T* row = a + (r + u) * lda;
            unroll<V>([&](auto v) POLLEN_INLINE { sum[u][v] = xsimd::fma(load(row, v), xr, sum[u][v]); });
        });
    for (; r < rows; ++r)
        unroll<V>([&](auto v)
                      POLLEN_INLINE { sum[0][v] = xsimd::fma(load(a + r * lda, v), Batch<T>(x[r]), sum[0][v]); });
    unroll<V>([&](auto v) POLLEN_INLINE {
        unroll<U - 1>([&](auto u) POLLEN_INLINE { sum[0][v] += sum[u + 1][v]; });
        Batch<T> total = Batch<T>(alpha) * sum[0][v];
        if (beta != T{0}) total = xsimd::fma(Batch<T>(beta), load(y, v), total);
        if (Full || v < V - 1)
            total.store_unaligned(y + v * W);
        else
            store_first(y + v * W, total, last);
    });
}

template <class T, int V, int U>
void panel(Int rows, Int columns, T alpha, const T* a, Int lda, const T* x, T beta, T* y) {
    const Int last = columns - (V - 1) * lanes<T>;
    (last == lanes<T> ? panel<T, V, U, true> : panel<T, V, U, false>)(rows, last, alpha, a, lda, x, beta, y);
}

// More columns than registers can hold sums for: four rows at a time, with the sums in the first-level cache.
constexpr Int chunk_columns = 2048;

template <class T>
void chunk(Int rows, Int columns, T alpha, const T* a, Int lda, const T* x, T beta, T* y) {
    constexpr Int W = lanes<T>;
    constexpr int U = 4;
    alignas(64) T sum[chunk_columns];
    const Int whole = columns / W * W;
    std::fill(sum, sum + columns, T{0});
    const auto add = [&]<int N>(const T* row, const T* xr, std::integral_constant<int, N>) {
        for (Int j = 0; j < whole; j += W) {
            Batch<T> total = Batch<T>::load_aligned(sum + j);
            unroll<N>([&](auto u) POLLEN_INLINE {
                total = xsimd::fma(Batch<T>::load_unaligned(row + u * lda + j), Batch<T>(xr[u]), total);
            });
            total.store_aligned(sum + j);
        }
        for (Int j = whole; j < columns; ++j)
            for (int u = 0; u < N; ++u) sum[j] += row[u * lda + j] * xr[u];
    };
    Int r = 0;
    for (; r + U <= rows; r += U) add(a + r * lda, x + r, std::integral_constant<int, U>{});
    for (; r < rows; ++r) add(a + r * lda, x + r, std::integral_constant<int, 1>{});
    if (beta == T{0})
        for (Int j = 0; j < columns; ++j) y[j] = alpha * sum[j];
    else
        for (Int j = 0; j < columns; ++j) y[j] = alpha * sum[j] + beta * y[j];
}

// y(j) = alpha sum_r A(r, j) x(r) + beta y(j)
template <class T>
void vector_by_rows(Int rows, Int columns, T alpha, const T* a, Int lda, const T* x, T beta, T* y) {
    constexpr Int W = lanes<T>;
    switch ((columns + W - 1) / W) {
        case 1:
            return panel<T, 1, 8>(rows, columns, alpha, a, lda, x, beta, y);
        case 2:
            return panel<T, 2, 4>(rows, columns, alpha, a, lda, x, beta, y);
        case 3:
            return panel<T, 3, 4>(rows, columns, alpha, a, lda, x, beta, y);
        case 4:
            return panel<T, 4, 2>(rows, columns, alpha, a, lda, x, beta, y);
        case 5:
            return panel<T, 5, 2>(rows, columns, alpha, a, lda, x, beta, y);
        case 6:
            return panel<T, 6, 2>(rows, columns, alpha, a, lda, x, beta, y);
        case 7:
            return panel<T, 7, 1>(rows, columns, alpha, a, lda, x, beta, y);
        case 8:
            return panel<T, 8, 1>(rows, columns, alpha, a, lda, x, beta, y);
    }
    for (Int j = 0; j < columns; j += chunk_columns)
        chunk(rows, std::min(chunk_columns, columns - j), alpha, a + j, lda, x, beta, y + j);
}

}  // namespace

template <class T>
void gemv(bool trans, Int rows, Int columns, T alpha, const T* a, Int lda, const T* x, T beta, T* y) {
    if (columns == 1 && lda == 1) {  // A column is its own transpose.
        trans = !trans;
        std::swap(rows, columns);
        lda = columns;
    }
    const auto serial = trans ? vector_by_rows<T> : rows_by_vector<T>;
    if (rows <= 2 * block_elements / columns) return serial(rows, columns, alpha, a, lda, x, beta, y);

    // Enough elements of y: every task computes some of them.
    const Int outer = trans ? columns : rows, inner = trans ? rows : columns;
    if (outer >= (trans ? 4096 : 64)) {
        const Int share = std::max<Int>(trans ? 1024 : 16, block_elements / inner / 16 * 16);
        return parallel_for(outer, share, [&](Int begin, Int end) {
            if (trans)
                serial(rows, end - begin, alpha, a + begin, lda, x, beta, y + begin);
            else
                serial(end - begin, columns, alpha, a + begin * lda, lda, x, beta, y + begin);
        });
    }

    // Few: every task sums over a part of x, and the parts are added in their order.
    const Int part = std::max(block_elements / outer, (inner + 63) / 64);
    const Int parts = (inner + part - 1) / part;
    T* partials = scratch<T, struct GemvPartials>(parts * outer);
    parallel_for(inner, part, [&](Int begin, Int end) {
        T* to = partials + begin / part * outer;
        if (trans)
            serial(end - begin, columns, T{1}, a + begin * lda, lda, x + begin, T{0}, to);
        else
            serial(rows, end - begin, T{1}, a + begin, lda, x + begin, T{0}, to);
    });
    for (Int i = 0; i < outer; ++i) {
        T sum = partials[i];
        for (Int q = 1; q < parts; ++q) sum += partials[q * outer + i];
        y[i] = beta == T{0} ? alpha * sum : alpha * sum + beta * y[i];
    }
}

template void gemv(bool, Int, Int, float, const float*, Int, const float*, float, float*);
template void gemv(bool, Int, Int, double, const double*, Int, const double*, double, double*);

}  // namespace pollen::kernels
