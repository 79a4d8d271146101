#pragma once

#include <pollen/autograd/kernels/product.hpp>

namespace pollen::kernels {

// C = alpha A B + beta C as in gemm.hpp, on the calling thread, for a row A (m = 1, contiguous) and a B that is not
// transposed. It reads B once, row by row, at the speed of the memory or cache that holds it.
template <class T>
void vector_by_matrix(const Product<T>& p);

}  // namespace pollen::kernels
