#pragma once

#include <cstdint>
#include <vector>

// Products of matrices, row-major, float and double:
//
//     C = alpha op(A) op(B) + beta C        op(X) = X or its transpose        op(A) m x k,  op(B) k x n,  C m x n
//
// lda, ldb and ldc are the distances between the rows as stored: A has k columns (m if trans_a), B has n (k if
// trans_b), C has n. The forms without them take the matrices as contiguous. C overlaps neither A nor B. With beta = 0
// what C held does not matter, be it NaN; with alpha = 0 or k = 0 the same holds for A and B. Otherwise NaN and
// infinity go through.
//
// The bits of an element of C are defined. S_b is the sum over block b of p, from 256 b to 256 b + 255 or k - 1, by one
// chain of fused multiply-adds that starts at 0. The blocks are added in order; alpha S_b is rounded first:
//
//     C = fma(beta, C, alpha S_0);  C = C + alpha S_1;  C = C + alpha S_2; ...
//
// Vectors run along the columns of C, and threads share blocks of C. So the result depends neither on the width of the
// vectors nor on the number of threads.
namespace pollen::kernels {

template <class T>
void gemm(bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a, const T* b,
          T beta, T* c);

template <class T>
void gemm(bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a,
          std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc);

// Y = X W' + 1 b', and where `relu` the larger of each number and 0; X m x k, W n x k, b n, contiguous. Its bits are
// those of gemm() with beta = 1 on rows of b.
template <class T>
void gemm_affine(std::int64_t m, std::int64_t n, std::int64_t k, const T* x, const T* w, const T* bias, bool relu,
                 T* y);

// The multiplications in each task that a product is cut into, in the order in which the tasks are begun. Threads share
// the tasks, so this says how many of them a product keeps busy. For m and n up to 16384.
template <class T>
std::vector<std::int64_t> gemm_tasks(std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace pollen::kernels
