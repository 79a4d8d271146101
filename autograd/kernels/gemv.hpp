#pragma once

#include <cstdint>

// Products of a row-major matrix and a vector, y = alpha A x + beta y or y = alpha A^T x + beta y. They read the matrix
// once, at the speed of the memory or cache that holds it. With beta = 0 what y held does not matter.
namespace pollen::kernels {

// A is rows x columns, its rows lda apart. x has `columns` elements, y has `rows`; with trans it is the other way
// round.
template <class T>
void gemv(bool trans, std::int64_t rows, std::int64_t columns, T alpha, const T* a, std::int64_t lda, const T* x,
          T beta, T* y);

}  // namespace pollen::kernels
