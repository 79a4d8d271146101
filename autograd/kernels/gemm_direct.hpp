#pragma once

#include <cstdint>

namespace pollen::kernels {

// Whether gemm_direct is faster than OpenBLAS on this shape: small matrices, and those with one short side.
bool prefers_direct(std::int64_t m, std::int64_t n, std::int64_t k);

// C = alpha op(A) op(B) + beta C as in gemm.hpp, on the calling thread. Reads A and B where they are instead of packing
// them first, which is what OpenBLAS spends most of its time on where there is little to compute with each element.
template <class T>
void gemm_direct(bool trans_a, bool trans_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a,
                 std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc);

}  // namespace pollen::kernels
