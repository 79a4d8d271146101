#pragma once

#include <pollen/autograd/tensor.hpp>

namespace pollen {

// The eigenvalues of a symmetric matrix A, smallest first, and its eigenvectors of length 1: A V = V diag(values), with
// the eigenvectors in the columns of V. The largest number of each eigenvector is positive.
template <Real T>
struct SymmetricEigen {
    Tensor<T> values;
    Tensor<T> vectors;
};

// By Jacobi's rotations (Golub & Van Loan, section 8.5). Reads the lower triangle of a. The time grows with n^3, some
// ten times that of a product; the eigenvalues are right to about n units of the last place of the largest. Throws a
// ShapeError if a is not a square matrix, and a ValueError if it has a number that is not finite.
template <Real T>
SymmetricEigen<T> symmetric_eigen(const Tensor<T>& a);

}  // namespace pollen
