#include <pollen/autograd/kernels/triangular.hpp>

#include <pollen/autograd/kernels/gemm.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

constexpr Int block = 64;

void check(const char* op, Int n, Int columns, Int lda, Int ldb) {
    constexpr Int most = std::numeric_limits<int>::max();
    if (n < 0 || columns < 0 || lda < n || ldb < columns || lda > most || ldb > most)
        throw ValueError(std::string(op) + ": n = " + std::to_string(n) + ", columns = " + std::to_string(columns) +
                         ", lda = " + std::to_string(lda) + ", ldb = " + std::to_string(ldb) +
                         "; no size may be negative, and rows are as far apart as they are long or further, up to " +
                         std::to_string(most));
}

// y = y - factor x
template <class T>
void subtract(Int n, T factor, const T* __restrict x, T* __restrict y) {
    for (Int j = 0; j < n; ++j) y[j] = std::fma(-factor, x[j], y[j]);
}

// One block of at most 64 columns, by columns: when L(:, p) is known, it is taken off all elements to the right of it.
//     L(j, j) = sqrt(A(j, j))        L(i, j) = A(i, j) / L(j, j)        A(i, t) -= L(i, j) L(t, j)  for j < t <= i
template <class T>
Int cholesky_block(Int n, T* a, Int lda) {
    T column[block];
    for (Int j = 0; j < n; ++j) {
        const T pivot = a[j * lda + j];
        if (pivot <= T{0}) return j + 1;
        const T root = std::sqrt(pivot);
        a[j * lda + j] = root;
        for (Int i = j + 1; i < n; ++i) column[i] = a[i * lda + j] /= root;
        for (Int i = j + 1; i < n; ++i) subtract(i - j, column[i], column + j + 1, a + i * lda + j + 1);
    }
    return 0;
}

// X over B for one block of at most 64 rows: when row p of X is known, it is taken off all rows after it.
//     X(p, :) = B(p, :) / A(p, p)        B(i, :) -= op(A)(i, p) X(p, :)  for the i after p
template <class T>
void solve_block(bool forward, bool trans, bool unit_diagonal, Int n, Int columns, const T* a, Int lda, T* b, Int ldb) {
    for (Int step = 0; step < n; ++step) {
        const Int p = forward ? step : n - 1 - step;
        T* solved = b + p * ldb;
        if (!unit_diagonal)
            for (Int j = 0; j < columns; ++j) solved[j] /= a[p * lda + p];
        for (Int rest = step + 1; rest < n; ++rest) {
            const Int i = forward ? rest : n - 1 - rest;
            subtract(columns, trans ? a[p * lda + i] : a[i * lda + p], solved, b + i * ldb);
        }
    }
}

// All blocks, for some columns of B.
template <class T>
void solve(bool forward, bool trans, bool unit_diagonal, Int n, Int columns, const T* a, Int lda, T* b, Int ldb) {
    for (Int done = 0; done < n; done += block) {
        const Int size = std::min(block, n - done), first = forward ? done : n - done - size;
        solve_block(forward, trans, unit_diagonal, size, columns, a + first * lda + first, lda, b + first * ldb, ldb);
        const Int rest = n - done - size, to = forward ? first + size : 0;
        if (rest == 0) return;
        const T* factors = trans ? a + first * lda + to : a + to * lda + first;
        gemm(trans, false, rest, columns, size, T{-1}, factors, lda, b + first * ldb, ldb, T{1}, b + to * ldb, ldb);
    }
}

}  // namespace

template <class T>
Int cholesky(Int n, T* a, Int lda) {
    check("cholesky", n, 0, lda, 0);
    for (Int first = 0; first < n; first += block) {
        const Int size = std::min(block, n - first), next = first + size;
        T* corner = a + first * lda + first;
        if (const Int bad = cholesky_block(size, corner, lda)) return first + bad;
        // The rows below, L21 = A21 L11^-T, and what they take off the triangle to their right, A22 -= L21 L21^T.
        parallel_for(n - next, block, [&](Int begin, Int end) {
            for (Int i = next + begin; i < next + end; ++i) {
                T* row = a + i * lda + first;
                for (Int p = 0; p < size; ++p) {
                    row[p] /= corner[p * lda + p];
                    for (Int t = p + 1; t < size; ++t) row[t] = std::fma(-row[p], corner[t * lda + p], row[t]);
                }
            }
        });
        parallel_for(n - next, block, [&](Int begin, Int end) {
            const Int i = next + begin, rows = end - begin;
            const T* below = a + i * lda + first;
            gemm(false, true, rows, begin, size, T{-1}, below, lda, a + next * lda + first, lda, T{1},
                 a + i * lda + next, lda);
            // The square at the end of these rows, of which only the triangle may be written.
            alignas(64) T square[block * block];
            gemm(false, true, rows, rows, size, T{-1}, below, lda, below, lda, T{0}, square, rows);
            for (Int r = 0; r < rows; ++r)
                for (Int t = 0; t <= r; ++t) a[(i + r) * lda + i + t] += square[r * rows + t];
        });
    }
    return 0;
}

template <class T>
void triangular_solve(Triangle triangle, bool trans, bool unit_diagonal, Int n, Int columns, const T* a, Int lda, T* b,
                      Int ldb) {
    check("triangular_solve", n, columns, lda, ldb);
    const bool forward = (triangle == Triangle::lower) != trans;
    const double flops = static_cast<double>(n) * static_cast<double>(n);  // For one column.
    const Int share = std::max<Int>(64, static_cast<Int>(8e6 / (flops + 1)) / 16 * 16);
    parallel_for(columns, share, [&](Int begin, Int end) {
        solve(forward, trans, unit_diagonal, n, end - begin, a, lda, b + begin, ldb);
    });
}

template Int cholesky(Int, float*, Int);
template Int cholesky(Int, double*, Int);
template void triangular_solve(Triangle, bool, bool, Int, Int, const float*, Int, float*, Int);
template void triangular_solve(Triangle, bool, bool, Int, Int, const double*, Int, double*, Int);

}  // namespace pollen::kernels
