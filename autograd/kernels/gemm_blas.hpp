#pragma once

#include <pollen/autograd/kernels/product.hpp>

namespace pollen::kernels {

// A product by the BLAS that was chosen with -D POLLEN_BLAS=ON. It sums in an order of its own, so results depend on
// it.
template <class T>
void gemm_blas(const Product<T>& p);

}  // namespace pollen::kernels
