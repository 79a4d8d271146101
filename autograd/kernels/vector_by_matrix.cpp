#include <pollen/autograd/kernels/vector_by_matrix.hpp>

#include <pollen/autograd/kernels/gemm_tile.hpp>

#include <algorithm>
#include <type_traits>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

// V vectors of columns, of which the last has `last` columns, and U blocks of `length` p at once: the sums of several
// blocks do not wait for each other.
template <class T, int V, int U, bool Full>
void panel(Int length, Int last, T alpha, const T* x, const T* b, Int ldb, T beta, T* c) {
    constexpr Int W = lanes<T>;
    const auto load = [last](const T* row, auto v) POLLEN_INLINE {
        return Full || v < V - 1 ? Batch<T>::load_unaligned(row + v * W) : load_first(row + v * W, last);
    };
    Batch<T> sum[U][V];
    unroll<U * V>([&](auto i) POLLEN_INLINE { sum[i / V][i % V] = Batch<T>(T{0}); });
    for (Int p = 0; p < length; ++p)
        unroll<U>([&](auto u) POLLEN_INLINE {
            const Batch<T> xp(x[p + u * inner_block]);
            const T* row = b + (p + u * inner_block) * ldb;
            unroll<V>([&](auto v) POLLEN_INLINE { sum[u][v] = multiply_add(xp, load(row, v), sum[u][v]); });
        });
    unroll<V>([&](auto v) POLLEN_INLINE {
        Batch<T> total = Batch<T>(alpha) * sum[0][v];
        if (beta != T{0}) total = multiply_add(Batch<T>(beta), load(c, v), total);
        unroll<U - 1>([&](auto u) POLLEN_INLINE { total += Batch<T>(alpha) * sum[u + 1][v]; });
        if (Full || v < V - 1)
            total.store_unaligned(c + v * W);
        else
            store_first(c + v * W, total, last);
    });
}

template <class T, int V, int U>
void panels(const Product<T>& p) {
    const Int last = p.n - (V - 1) * lanes<T>;
    const bool full = last == lanes<T>;
    T beta = p.beta;
    for (Int q = 0; q < p.k;) {
        const bool several = q + U * inner_block <= p.k;
        const Int length = std::min(inner_block, p.k - q);
        const auto run = several ? (full ? panel<T, V, U, true> : panel<T, V, U, false>)
                                 : (full ? panel<T, V, 1, true> : panel<T, V, 1, false>);
        run(length, last, p.alpha, p.a + q, p.b + q * p.ldb, p.ldb, beta, p.c);
        q += several ? U * inner_block : inner_block;
        beta = T{1};
    }
}

// More columns than registers can hold sums for: four rows at a time, with the sums in the first-level cache.
constexpr Int chunk_columns = 2048;

template <class T>
void chunk(Int length, Int columns, T alpha, const T* x, const T* b, Int ldb, T beta, T* c) {
    constexpr Int W = lanes<T>;
    constexpr int U = 4;
    alignas(64) T sum[chunk_columns];
    const Int whole = columns / W * W, rest = columns - whole;
    std::fill(sum, sum + (rest > 0 ? whole + W : whole), T{0});
    const auto add = [&]<int N>(const T* row, const T* xp, std::integral_constant<int, N>) {
        const auto at = [&](Int j, const auto& load) {
            Batch<T> total = Batch<T>::load_aligned(sum + j);
            unroll<N>([&](auto u)
                          POLLEN_INLINE { total = multiply_add(Batch<T>(xp[u]), load(row + u * ldb + j), total); });
            total.store_aligned(sum + j);
        };
        for (Int j = 0; j < whole; j += W) at(j, [](const T* from) { return Batch<T>::load_unaligned(from); });
        if (rest > 0) at(whole, [rest](const T* from) { return load_first(from, rest); });
    };
    Int p = 0;
    for (; p + U <= length; p += U) add(b + p * ldb, x + p, std::integral_constant<int, U>{});
    for (; p < length; ++p) add(b + p * ldb, x + p, std::integral_constant<int, 1>{});
    const auto finish = [&](Int j, const auto& load, const auto& store) {
        Batch<T> total = Batch<T>(alpha) * Batch<T>::load_aligned(sum + j);
        if (beta != T{0}) total = multiply_add(Batch<T>(beta), load(c + j), total);
        store(c + j, total);
    };
    for (Int j = 0; j < whole; j += W)
        finish(
            j, [](const T* from) { return Batch<T>::load_unaligned(from); },
            [](T* to, const Batch<T>& v) { v.store_unaligned(to); });
    if (rest > 0)
        finish(
            whole, [rest](const T* from) { return load_first(from, rest); },
            [rest](T* to, const Batch<T>& v) { store_first(to, v, rest); });
}

}  // namespace

template <class T>
void vector_by_matrix(const Product<T>& p) {
    switch ((p.n + lanes<T> - 1) / lanes<T>) {
        case 1:
            return panels<T, 1, 8>(p);
        case 2:
            return panels<T, 2, 4>(p);
        case 3:
            return panels<T, 3, 4>(p);
        case 4:
            return panels<T, 4, 2>(p);
        case 5:
            return panels<T, 5, 2>(p);
        case 6:
            return panels<T, 6, 2>(p);
        case 7:
            return panels<T, 7, 1>(p);
        case 8:
            return panels<T, 8, 1>(p);
    }
    for (Int j = 0; j < p.n; j += chunk_columns)
        for (Int q = 0; q < p.k; q += inner_block)
            chunk(std::min(inner_block, p.k - q), std::min(chunk_columns, p.n - j), p.alpha, p.a + q,
                  p.b + q * p.ldb + j, p.ldb, q == 0 ? p.beta : T{1}, p.c + j);
}

template void vector_by_matrix(const Product<float>&);
template void vector_by_matrix(const Product<double>&);

}  // namespace pollen::kernels
