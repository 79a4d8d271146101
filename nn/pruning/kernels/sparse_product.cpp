#include <pollen/nn/pruning/kernels/sparse_product.hpp>

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/registers.hpp>
#include <pollen/autograd/kernels/transpose_tile.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/nn/pruning/kernels/sparse_rows.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

constexpr Int task_numbers = 16384;  // of W, in one task
constexpr Int window = SparsePattern::window_rows;
constexpr Int enough_panels = 8;  // for the threads of a machine; with fewer, the rows of W are shared out too

// Eight rows of a slice side by side.
template <class T>
struct Eight {
    T row[8];
};

// sum += w x, row by row, each rounded once
template <class T>
POLLEN_INLINE inline void add_products(Eight<T>& sum, const T* w, const Eight<T>& x) {
#if defined(__AVX2__)
    using V = xsimd::batch<T, xsimd::fma3<xsimd::avx2>>;
    for (std::size_t r = 0; r < 8; r += V::size)
        multiply_add(V::load_unaligned(w + r), V::load_unaligned(x.row + r), V::load_unaligned(sum.row + r))
            .store_unaligned(sum.row + r);
#else
    for (int r = 0; r < 8; ++r) sum.row[r] = std::fma(w[r], x.row[r], sum.row[r]);
#endif
}

// even and odd += the products of `steps` steps of the eight rows of a slice, in turn. Compilers make the best of a
// vector that is put together from single numbers; the instructions for this (gather) are slower.
template <class T>
void slice_by_vector(Int steps, const T* values, const std::uint16_t* column, const T* x, Eight<T>& even_sum,
                     Eight<T>& odd_sum) {
    Eight<T> even = even_sum, odd = odd_sum;
    const auto add = [&](Eight<T>& sum, Int t) POLLEN_INLINE {
        std::uint32_t pair[4];
        std::memcpy(pair, column + 8 * t, sizeof pair);
        add_products(sum, values + 8 * t,
                     Eight<T>{x[pair[0] & 0xffff], x[pair[0] >> 16], x[pair[1] & 0xffff], x[pair[1] >> 16],
                              x[pair[2] & 0xffff], x[pair[2] >> 16], x[pair[3] & 0xffff], x[pair[3] >> 16]});
    };
    Int t = 0;
    for (; t + 2 <= steps; t += 2) {
        add(even, t);
        add(odd, t + 1);
    }
    if (t < steps) add(even, t);
    even_sum = even;
    odd_sum = odd;
}

// One row of X: y(i) = b(i) + sum_k v(k) x(column of k), for the rows of W from `begin` to `end`, slice by slice. The
// sums are those of RowSums: a row has the same bits alone as among others.
template <class T>
void rows_by_vector(const SparsePattern& w, const T* values, const T* x, const T* bias, T* y, Int begin, Int end) {
    static_assert(SparsePattern::slice_rows == 8);
    const std::uint16_t* column = w.column();
    for (Int p = begin; p < end; p += SparsePattern::slice_rows) {
        const SparsePattern::Row slice = w.numbers(p);
        alignas(64) Eight<T> even = {}, odd = {};
        if (bias)
            for (Int r = 0; r < slice.stride; ++r) even.row[r] = bias[w.row(p + r)];
        if (slice.stride == SparsePattern::slice_rows) {
            slice_by_vector(slice.steps, values + slice.first, column + slice.first, x, even, odd);
        } else {
            for (Int k = slice.first; k < slice.rest; ++k) {
                const Int r = (k - slice.first) % slice.stride;
                T& sum = ((k - slice.first) / slice.stride % 2 == 0 ? even : odd).row[r];
                sum = std::fma(values[k], x[column[k]], sum);
            }
        }
        Int k = slice.rest;
        for (Int r = 0; r < slice.stride; ++r) {
            const Int last = w.ends()[p + r];
            for (; k + 2 <= last; k += 2) {
                even.row[r] = std::fma(values[k], x[column[k]], even.row[r]);
                odd.row[r] = std::fma(values[k + 1], x[column[k + 1]], odd.row[r]);
            }
            if (k < last) {
                even.row[r] = std::fma(values[k], x[column[k]], even.row[r]);
                ++k;
            }
            y[w.row(p + r)] = even.row[r] + odd.row[r];
        }
    }
}

// The transpose of `rows` rows of x as (columns, ld), with zeros behind the last row.
template <class T>
void turn(const T* x, Int rows, Int columns, T* out, Int ld) {
    transpose_tile<T, false>(x, columns, out, ld, columns, rows);
    if (rows < ld)
        for (Int j = 0; j < columns; ++j) std::fill(out + j * ld + rows, out + (j + 1) * ld, T(0));
}

// V vectors of rows of X, turned, so that each number of W is multiplied with vectors: Y' for the rows of W from
// `begin` to `end`, window by window.
template <class T, int V>
void panel(const SparsePattern& w, const T* values, Int n, const T* x, const T* bias, T* y, Int begin, Int end) {
    constexpr Int ld = V * lanes<T>;
    T* turned = scratch<T, struct SparseInputs>(w.columns() * ld);
    T* sums = scratch<T, struct SparseOutputs>(window * ld);
    turn(x, n, w.columns(), turned, ld);
    const std::uint16_t* column = w.column();
    const auto place = [=](Int k) POLLEN_INLINE { return turned + column[k] * ld; };
    for (Int i = begin; i < end; i += window) {
        const Int rows = std::min(window, end - i);
        for (Int p = i; p < i + rows; ++p) {
            const SparsePattern::Row row = w.numbers(p);
            RowSums<T, V> sum(bias ? bias[w.row(p)] : T(0));
            sum.add(values, row.first, row.stride, row.steps, place);
            sum.add(values, row.rest, 1, row.end - row.rest, place);
            sum.store(sums + (w.row(p) - i) * ld);
        }
        transpose_tile<T, false>(sums, ld, y + i, w.rows(), n, rows);
    }
}

// The panels of n rows: whole ones of 4 vectors, and a last one of as few vectors as hold the rest. Calls
// f(V, first row, number of rows).
template <class T>
constexpr Int panel_rows = 4 * lanes<T>;

template <class T, class F>
void with_panel(Int index, Int n, const F& f) {
    const Int first = index * panel_rows<T>, rows = std::min(panel_rows<T>, n - first);
    switch ((rows + lanes<T> - 1) / lanes<T>) {
        case 1:
            return f(std::integral_constant<int, 1>{}, first, rows);
        case 2:
            return f(std::integral_constant<int, 2>{}, first, rows);
        case 3:
            return f(std::integral_constant<int, 3>{}, first, rows);
        default:
            return f(std::integral_constant<int, 4>{}, first, rows);
    }
}

// dX' of V vectors of rows: every number of W adds to one of its rows.
template <class T, int V>
void panel_dx(const SparsePattern& w, const T* values, Int n, const T* dy, T beta, T* dx) {
    constexpr Int ld = V * lanes<T>;
    T* sums = scratch<T, struct SparseInputs>(w.columns() * ld);
    T* turned = scratch<T, struct SparseOutputs>(window * ld);
    std::fill(sums, sums + w.columns() * ld, T(0));
    for (Int i = 0; i < w.rows(); i += window) {
        const Int rows = std::min(window, w.rows() - i);
        transpose_tile<T, false>(dy + i, w.rows(), turned, ld, rows, n);
        for (Int r = 0; r < rows; ++r) std::fill(turned + r * ld + n, turned + (r + 1) * ld, T(0));
        for (Int p = i; p < i + rows; ++p) {
            Batch<T> g[V];
            const T* from = turned + (w.row(p) - i) * ld;
            unroll<V>([&](auto v) POLLEN_INLINE { g[v] = Batch<T>::load_aligned(from + v * lanes<T>); });
            each_number(w.numbers(p), [&](Int k) POLLEN_INLINE {
                T* to = sums + w.column()[k] * ld;
                const Batch<T> value(values[k]);
                unroll<V>([&](auto v) POLLEN_INLINE {
                    multiply_add(value, g[v], Batch<T>::load_aligned(to + v * lanes<T>))
                        .store_aligned(to + v * lanes<T>);
                });
            });
        }
    }
    (beta == T(0) ? transpose_tile<T, false> : transpose_tile<T, true>)(sums, ld, dx, w.columns(), n, w.columns());
}

template <class T>
Tensor<T> turned_whole(const T* x, Int rows, Int columns, Int ld, Pool& pool) {
    Tensor<T> out = Tensor<T>::empty(Shape{columns, ld}, pool);
    T* to = out.fresh_data();
    parallel_for(columns, 64, [&](Int begin, Int end) {
        transpose_tile<T, false>(x + begin, columns, to + begin * ld, ld, end - begin, rows);
        for (Int j = begin; j < end; ++j) std::fill(to + j * ld + rows, to + (j + 1) * ld, T(0));
    });
    return out;
}

}  // namespace

template <class T>
void sparse_product(const SparsePattern& w, const T* values, Int n, const T* x, const T* bias, T* y) {
    if (n == 1) {
        // 1, 2, 4, ... pieces, so that any number of threads that is a power of two has equal shares.
        const auto pieces = static_cast<Int>(std::bit_floor(static_cast<std::uint64_t>(w.size() / task_numbers + 1)));
        const Int rows = (w.rows() / pieces / SparsePattern::slice_rows + 1) * SparsePattern::slice_rows;
        return parallel_for(w.rows(), rows,
                            [&](Int begin, Int end) { rows_by_vector(w, values, x, bias, y, begin, end); });
    }
    const Int panels = (n + panel_rows<T> - 1) / panel_rows<T>;
    const Int pieces = panels >= enough_panels ? 1 : std::clamp<Int>(w.size() / task_numbers, 1, enough_panels);
    const Int rows = ((w.rows() + pieces - 1) / pieces + window - 1) / window * window;
    parallel_for(panels * pieces, 1, [&](Int task, Int) {
        const Int begin = task % pieces * rows, end = std::min(w.rows(), begin + rows);
        if (begin >= end) return;
        with_panel<T>(task / pieces, n, [&](auto v, Int first, Int count) {
            panel<T, v>(w, values, count, x + first * w.columns(), bias, y + first * w.rows(), begin, end);
        });
    });
}

template <class T>
void sparse_dx(const SparsePattern& w, const T* values, Int n, const T* dy, T beta, T* dx) {
    parallel_for((n + panel_rows<T> - 1) / panel_rows<T>, 1, [&](Int task, Int) {
        with_panel<T>(task, n, [&](auto v, Int first, Int count) {
            panel_dx<T, v>(w, values, count, dy + first * w.rows(), beta, dx + first * w.columns());
        });
    });
}

template <class T>
void sparse_dvalues(const SparsePattern& w, Int n, const T* dy, const T* x, T beta, T* dv, Pool& pool) {
    const Int ld = (n + sum_lanes<T> - 1) / sum_lanes<T> * sum_lanes<T>;
    const Tensor<T> xt = turned_whole(x, n, w.columns(), ld, pool), gt = turned_whole(dy, n, w.rows(), ld, pool);
    const Int grain = std::max<Int>(1, task_numbers * w.rows() / std::max<Int>(1, w.size() * (1 + ld / 32)));
    parallel_for(w.rows(), grain, [&](Int begin, Int end) {
        for (Int p = begin; p < end; ++p) {
            const T* g = gt.data() + w.row(p) * ld;
            each_number(w.numbers(p), [&](Int k) {
                const T sum = dot_of_vectors(ld, g, xt.data() + w.column()[k] * ld);
                dv[k] = beta == T(0) ? sum : dv[k] + sum;
            });
        }
    });
}

#define POLLEN_INSTANTIATE(T)                                                                  \
    template void sparse_product(const SparsePattern&, const T*, Int, const T*, const T*, T*); \
    template void sparse_dx(const SparsePattern&, const T*, Int, const T*, T, T*);             \
    template void sparse_dvalues(const SparsePattern&, Int, const T*, const T*, T, T*, Pool&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen::kernels
