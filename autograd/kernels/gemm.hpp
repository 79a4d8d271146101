#pragma once

#include <cstdint>
#include <string>

// Products of matrices, row-major, float and double:
//
//     C = alpha op(A) op(B) + beta C        op(X) = X or its transpose        op(A) m x k,  op(B) k x n,  C m x n
//
// lda, ldb and ldc are the distances between the rows as stored: A has k columns (m if trans_a), B has n (k if
// trans_b), C has n. The forms without them take the matrices as contiguous. C overlaps neither A nor B. With beta = 0
// what C held does not matter, be it NaN; with alpha = 0 or k = 0 the same holds for A and B. Otherwise NaN and
// infinity go through.
//
// The work is cut into blocks by the shape alone: the same bits at any number of threads.
namespace pollen::kernels {

template <class T>
void gemm(bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a, const T* b,
          T beta, T* c);

template <class T>
void gemm(bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a,
          std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc);

// The kernels OpenBLAS runs on this CPU: "Haswell", "Zen", "SkylakeX", ...
std::string blas_kernel_family();

}  // namespace pollen::kernels
