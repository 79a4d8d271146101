#pragma once

#include <pollen/autograd/kernels/product.hpp>

namespace pollen::kernels {

// C = alpha op(A) op(B) + beta C for matrices that are large on every side, on all threads. A and B are first copied
// into panels, in the order in which the tiles read them; all threads share the panels. C is cut into blocks of tiles.
template <class T>
void gemm_packed(const Product<T>& p);

// How C is cut: into blocks of `rows` by `columns` panels.
struct PackedCut {
    std::int64_t panel_rows, panel_columns;
    std::int64_t panels_m, panels_n;  // of all of C
    std::int64_t rows, columns;       // panels of a block
    std::int64_t blocks() const { return ((panels_m + rows - 1) / rows) * ((panels_n + columns - 1) / columns); }
};
template <class T>
PackedCut packed_cut(std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace pollen::kernels
