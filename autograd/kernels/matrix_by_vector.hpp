#pragma once

#include <pollen/autograd/kernels/product.hpp>

namespace pollen::kernels {

// C = alpha A B' + beta C as in gemm.hpp, on the calling thread, for a row A (m = 1, contiguous): every row of the
// stored B is multiplied by the vector A. It reads B once.
template <class T>
void matrix_by_vector(const Product<T>& p);

}  // namespace pollen::kernels
