#pragma once

#include <algorithm>
#include <cstdint>

namespace pollen::kernels {

// How many parts of `size` hold n, rounded up.
constexpr std::int64_t parts_of(std::int64_t n, std::int64_t size) { return (n + size - 1) / size; }

// C = alpha op(A) op(B) + beta C, or an affine map, see gemm.hpp.
template <class T>
struct Product {
    bool trans_a, trans_b;
    std::int64_t m, n, k;
    T alpha;
    const T* a;
    std::int64_t lda;
    const T* b;
    std::int64_t ldb;
    T beta;
    T* c;
    std::int64_t ldc;
    const T* bias = nullptr;  // of an affine map: a number for each column of C
    bool relu = false;        // with a bias only
};

// The part of a product that computes the elements of C in `rows` rows from i on and `columns` columns from j on, or
// fewer if C ends before.
template <class T>
Product<T> block_of(Product<T> p, std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t columns) {
    p.m = std::min(rows, p.m - i);
    p.n = std::min(columns, p.n - j);
    p.a += p.trans_a ? i : i * p.lda;
    p.b += p.trans_b ? j * p.ldb : j;
    p.c += i * p.ldc + j;
    if (p.bias) p.bias += j;
    return p;
}

// The part of a product that sums over `count` p from `first` on, or fewer if there are no more.
template <class T>
Product<T> inner_part_of(Product<T> p, std::int64_t first, std::int64_t count) {
    p.k = std::min(count, p.k - first);
    p.a += p.trans_a ? first * p.lda : first;
    p.b += p.trans_b ? first : first * p.ldb;
    return p;
}

}  // namespace pollen::kernels
