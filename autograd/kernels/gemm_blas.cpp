#include <pollen/autograd/kernels/gemm_blas.hpp>

// The header of xtensor-blas below needs these, and does not include them.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <iostream>
#include <limits>
#include <mutex>

#include <xtensor-blas/xblas_config.hpp>

#include <xflens/cxxblas/cxxblas.cxx>

namespace pollen::kernels {

static std::mutex one_caller;

// BLAS counts in int. Products over more than 2^30 rows, columns or terms are cut into parts. One thread at a time
// calls the BLAS, since not every BLAS is safe for more: the serial OpenBLAS of Debian is not. Its own threads share
// the work.
template <class T>
void gemm_blas(const Product<T>& p) {
    const std::lock_guard lock(one_caller);
    constexpr std::int64_t most = std::int64_t{1} << 30;
    const auto op = [](bool trans) { return trans ? cxxblas::Trans : cxxblas::NoTrans; };
    const auto size = [](std::int64_t n) { return static_cast<int>(n); };
    for (std::int64_t i = 0; i < p.m; i += most)
        for (std::int64_t j = 0; j < p.n; j += most)
            for (std::int64_t first = 0; first < p.k; first += most) {
                const Product<T> q = inner_part_of(block_of(p, i, most, j, most), first, most);
                cxxblas::gemm<int>(cxxblas::RowMajor, op(q.trans_a), op(q.trans_b), size(q.m), size(q.n), size(q.k),
                                   q.alpha, q.a, size(q.lda), q.b, size(q.ldb), first == 0 ? q.beta : T{1}, q.c,
                                   size(q.ldc));
            }
}

template void gemm_blas(const Product<float>&);
template void gemm_blas(const Product<double>&);

}  // namespace pollen::kernels
