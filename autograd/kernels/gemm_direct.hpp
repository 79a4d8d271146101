#pragma once

#include <pollen/autograd/kernels/product.hpp>

namespace pollen::kernels {

// C = alpha op(A) op(B) + beta C as in gemm.hpp, on the calling thread. It reads A and B where they are: for small
// matrices and those with one short side, where copying them into panels would cost more than it saves. An affine map
// has one block of p at most.
template <class T>
void gemm_direct(const Product<T>& p);

}  // namespace pollen::kernels
