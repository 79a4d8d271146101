#include <pollen/autograd/kernels/lapack.hpp>

#include <pollen/autograd/detail/cxxblas.hpp>
#include <pollen/autograd/detail/openblas.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/error.hpp>

#include <string>

// LAPACK, as Fortran names it, out of the same archive as BLAS.
extern "C" {
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
}

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

// Up to these sizes plain loops beat the call.
constexpr Int small_factor = 8, small_system = 4;

void check(const char* op, Int n, Int columns, Int lda, Int ldb) {
    constexpr Int most = std::numeric_limits<int>::max();
    if (n < 0 || columns < 0 || lda < n || ldb < columns || lda > most || ldb > most)
        throw ValueError(std::string(op) + ": n = " + std::to_string(n) + ", columns = " + std::to_string(columns) +
                         ", lda = " + std::to_string(lda) + ", ldb = " + std::to_string(ldb) +
                         "; no size may be negative, and rows are as far apart as they are long or further, up to " +
                         std::to_string(most));
}

void potrf(const char* uplo, const int* n, float* a, const int* lda, int* info) { spotrf_(uplo, n, a, lda, info); }
void potrf(const char* uplo, const int* n, double* a, const int* lda, int* info) { dpotrf_(uplo, n, a, lda, info); }

// L(i, j) = (A(i, j) - sum_{p<j} L(i, p) L(j, p)) / L(j, j)        L(i, i) = sqrt(A(i, i) - sum_{p<i} L(i, p)^2)
template <class T>
Int small_cholesky(Int n, T* a, Int lda) {
    for (Int i = 0; i < n; ++i) {
        T* row = a + i * lda;
        for (Int j = 0; j <= i; ++j) {
            const T* other = a + j * lda;
            T sum = row[j];
            for (Int p = 0; p < j; ++p) sum -= row[p] * other[p];
            if (j < i) {
                row[j] = sum / other[j];
            } else {
                if (sum <= T{0}) return i + 1;
                row[j] = std::sqrt(sum);
            }
        }
    }
    return 0;
}

// X(i, :) = (B(i, :) - sum_{p before i} op(A)(i, p) X(p, :)) / A(i, i), from the corner where op(A) has a single
// element.
template <class T>
void small_solve(bool forward, bool trans, bool unit_diagonal, Int n, Int columns, const T* a, Int lda, T* b, Int ldb) {
    for (Int step = 0; step < n; ++step) {
        const Int i = forward ? step : n - 1 - step;
        T* row = b + i * ldb;
        for (Int q = 0; q < step; ++q) {
            const Int p = forward ? q : n - 1 - q;
            const T factor = trans ? a[p * lda + i] : a[i * lda + p];
            const T* other = b + p * ldb;
            for (Int j = 0; j < columns; ++j) row[j] -= factor * other[j];
        }
        if (!unit_diagonal)
            for (Int j = 0; j < columns; ++j) row[j] /= a[i * lda + i];
    }
}

}  // namespace

// LAPACK reads by columns, where a lower triangle by rows is the upper one, and L L^T is U^T U.
template <class T>
Int cholesky(Int n, T* a, Int lda) {
    check("cholesky", n, 0, lda, 0);
    if (n <= small_factor) return small_cholesky(n, a, lda);
    const int size = static_cast<int>(n), stride = static_cast<int>(lda);
    int info = 0;
    const BlasCall call;
    potrf("U", &size, a, &stride, &info);
    return info;
}

template <class T>
void triangular_solve(Triangle triangle, bool trans, bool unit_diagonal, Int n, Int columns, const T* a, Int lda, T* b,
                      Int ldb) {
    check("triangular_solve", n, columns, lda, ldb);
    if (n == 0 || columns == 0) return;
    const bool lower = triangle == Triangle::lower;
    if (n <= small_system) return small_solve(lower != trans, trans, unit_diagonal, n, columns, a, lda, b, ldb);

    const auto uplo = lower ? cxxblas::Lower : cxxblas::Upper;
    const auto op = trans ? cxxblas::Trans : cxxblas::NoTrans;
    const auto diagonal = unit_diagonal ? cxxblas::Unit : cxxblas::NonUnit;
    const int size = static_cast<int>(n), stride = static_cast<int>(lda);
    if (columns == 1) {
        const BlasCall call;
        return cxxblas::trsv<int>(cxxblas::RowMajor, uplo, op, diagonal, size, a, stride, b, static_cast<int>(ldb));
    }
    const double flops = static_cast<double>(n) * static_cast<double>(n);  // For one column.
    const Int block = std::max<Int>(128, static_cast<Int>(8e6 / flops) / 16 * 16);
    parallel_for(columns, block, [&](Int begin, Int end) {
        const BlasCall call;
        cxxblas::trsm<int>(cxxblas::RowMajor, cxxblas::Left, uplo, op, diagonal, size, static_cast<int>(end - begin),
                           T{1}, a, stride, b + begin, static_cast<int>(ldb));
    });
}

template Int cholesky(Int, float*, Int);
template Int cholesky(Int, double*, Int);
template void triangular_solve(Triangle, bool, bool, Int, Int, const float*, Int, float*, Int);
template void triangular_solve(Triangle, bool, bool, Int, Int, const double*, Int, double*, Int);

}  // namespace pollen::kernels
