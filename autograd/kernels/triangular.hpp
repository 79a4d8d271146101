#pragma once

#include <cstdint>

// Cholesky factors and triangular systems, row-major, float and double. The caller loops over batches.
//
// Both go through the matrix in blocks of 64. Within a block, an element is a chain of fused multiply-adds that starts
// from the element itself; what earlier blocks contribute is subtracted by gemm. So the bits are the same on every
// machine and any number of threads.
namespace pollen::kernels {

// A = L L^T for a symmetric positive definite A (n x n, rows lda apart). Reads the lower triangle of A and writes L
// over it; what stands above the diagonal is neither read nor written. Returns 0, or i + 1 if pivot i is 0 or
// negative: A is not positive definite then, and its triangle is spoilt. NaN goes through.
template <class T>
std::int64_t cholesky(std::int64_t n, T* a, std::int64_t lda);

enum class Triangle { lower, upper };

// Solves op(A) X = B, op(A) = A or A^T, for a triangular A (n x n, rows lda apart) and writes X over B (n x columns,
// rows ldb apart). Of A only the named triangle is read, and not its diagonal if unit_diagonal: it is then taken as
// ones. A zero on the diagonal gives infinities and NaN.
template <class T>
void triangular_solve(Triangle triangle, bool trans, bool unit_diagonal, std::int64_t n, std::int64_t columns,
                      const T* a, std::int64_t lda, T* b, std::int64_t ldb);

}  // namespace pollen::kernels
