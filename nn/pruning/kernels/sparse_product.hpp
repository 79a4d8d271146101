#pragma once

#include <pollen/autograd/pool.hpp>
#include <pollen/nn/pruning/sparse_pattern.hpp>

// Products with a sparse matrix W (outputs, inputs), given by its pattern and its numbers, for n rows at a time:
//
//     Y = X W' + 1 b'        dX = dY W        dV = dY' X at the places of W
//
// Elements of X that meet no number of W are not read: they may be NaN. beta is 0 to write a result and 1 to add it to
// what is there. The work is cut by the sizes alone, so a row has the same bits at any number of threads and beside any
// other rows.
namespace pollen::kernels {

template <class T>
void sparse_product(const SparsePattern& w, const T* values, std::int64_t n, const T* x, const T* bias, T* y);

template <class T>
void sparse_dx(const SparsePattern& w, const T* values, std::int64_t n, const T* dy, T beta, T* dx);

template <class T>
void sparse_dvalues(const SparsePattern& w, std::int64_t n, const T* dy, const T* x, T beta, T* dv, Pool& pool);

}  // namespace pollen::kernels
