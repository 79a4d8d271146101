#include <pollen/autograd/kernels/gemm.hpp>

#include <pollen/autograd/detail/cxxblas.hpp>
#include <pollen/autograd/detail/openblas.hpp>
#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/gemm_direct.hpp>
#include <pollen/autograd/kernels/gemv.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <limits>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

constexpr Int max_int = std::numeric_limits<int>::max();

template <class T>
struct Product {
    bool trans_a, trans_b;
    Int m, n, k;
    T alpha;
    const T* a;
    Int lda;
    const T* b;
    Int ldb;
    T beta;
    T* c;
    Int ldc;
};

void check(bool trans_a, bool trans_b, Int m, Int n, Int k, Int lda, Int ldb, Int ldc) {
    if (m < 0 || n < 0 || k < 0)
        throw ValueError("gemm: m = " + std::to_string(m) + ", n = " + std::to_string(n) +
                         ", k = " + std::to_string(k) + "; no size may be negative");
    const auto row = [](const char* name, Int ld, Int columns) {
        if (ld < columns || ld > max_int)
            throw ValueError(std::string("gemm: ") + name + " = " + std::to_string(ld) + "; rows of " +
                             std::to_string(columns) + " elements need " + std::to_string(columns) + " to " +
                             std::to_string(max_int));
    };
    row("lda", lda, trans_a ? m : k);
    row("ldb", ldb, trans_b ? k : n);
    row("ldc", ldc, n);
}

template <class T>
void blas_gemm(const Product<T>& p) {
    const auto op = [](bool trans) { return trans ? cxxblas::Trans : cxxblas::NoTrans; };
    const auto size = [](Int n) { return static_cast<int>(n); };
    const BlasCall call;
    cxxblas::gemm<int>(cxxblas::RowMajor, op(p.trans_a), op(p.trans_b), size(p.m), size(p.n), size(p.k), p.alpha, p.a,
                       size(p.lda), p.b, size(p.ldb), p.beta, p.c, size(p.ldc));
}

// C = beta C
template <class T>
void scale(Int m, Int n, T beta, T* c, Int ldc) {
    for (Int i = 0; i < m; ++i, c += ldc) {
        if (beta == T{0})
            std::fill(c, c + n, T{0});
        else
            for (Int j = 0; j < n; ++j) c[j] *= beta;
    }
}

// In flops. A product with a short inner dimension is bound by writing C, where a second thread helps little: it counts
// for less.
double work_of(Int m, Int n, Int k) {
    const double dk = static_cast<double>(k);
    return 2 * static_cast<double>(m) * static_cast<double>(n) * dk * std::min(1.0, dk / 32);
}

// The least work that is worth a task of its own. OpenBLAS wants more, since it packs what the task reads.
constexpr double direct_block = 1.5e6, blas_block = 4e6;

// Into how many parts each dimension is cut.
struct Cut {
    Int m = 1, n = 1, k = 1;
    Int blocks() const { return m * n * k; }
};

// OpenBLAS packs A and B before it computes with them, and every block packs its own: cutting m repeats the packing of
// B, cutting n that of A. Cutting k repeats nothing, but its parts of C are written apart and summed. So the cheapest
// cut is made again and again: once for any product that is worth two threads, further while the overhead stays small.
// The costs are in flops an element, measured.
Cut cut(bool direct, Int m, Int n, Int k) {
    const double pack_a = direct ? 0 : 36, pack_b = direct ? 0 : 18, sum_c = 96;
    constexpr double tolerated = 0.046, never = std::numeric_limits<double>::infinity();
    constexpr Int most_partial = Int{1} << 18;  // Elements of C that are worth writing several times.
    const double dm = static_cast<double>(m), dn = static_cast<double>(n), dk = static_cast<double>(k);
    const double work = work_of(m, n, k);
    const double most = direct ? std::min(work / direct_block, 64.0)
                               : std::min(work / blas_block, std::max({4.0, dm * dn / (1024 * 512), dk / 1024}));
    Cut c;
    double overhead = 0;
    while (static_cast<double>(2 * c.blocks()) <= most) {
        const double cost_m = m / c.m >= 64 ? static_cast<double>(c.m) * dn * dk * pack_b : never;
        const double cost_n = n / c.n >= 64 ? static_cast<double>(c.n) * dm * dk * pack_a : never;
        const double cost_k =
            k / c.k >= 512 && m * n <= most_partial ? static_cast<double>(c.k) * dm * dn * sum_c : never;
        const double cost = std::min({cost_m, cost_n, cost_k});
        overhead += cost;
        if (cost == never || (c.blocks() > 1 && overhead > tolerated * work)) break;
        (cost == cost_m ? c.m : cost == cost_n ? c.n : c.k) *= 2;
    }
    return c;
}

// The length of one of `parts` parts of n: a multiple of what kernels take at a time, and within the reach of BLAS.
Int part_of(Int n, Int parts) { return std::min((n + parts * 16 - 1) / (parts * 16) * 16, Int{1} << 30); }

struct GemmPartials;

template <class T>
void gemm_blocks(bool direct, const Product<T>& p) {
    const Cut parts = cut(direct, p.m, p.n, p.k);
    const Int bm = part_of(p.m, parts.m), bn = part_of(p.n, parts.n), bk = part_of(p.k, parts.k);
    const Int nm = (p.m + bm - 1) / bm, nn = (p.n + bn - 1) / bn, nk = (p.k + bk - 1) / bk;
    const Int size = p.m * p.n;
    T* partials = nk > 1 ? scratch<T, GemmPartials>((nk - 1) * size) : nullptr;

    parallel_for(nm * nn * nk, 1, [&](Int begin, Int end) {
        for (Int block = begin; block < end; ++block) {
            const Int j = block % nn * bn, i = block / nn % nm * bm, part = block / (nn * nm), l = part * bk;
            Product<T> q = p;
            q.m = std::min(bm, p.m - i);
            q.n = std::min(bn, p.n - j);
            q.k = std::min(bk, p.k - l);
            q.a += p.trans_a ? l * p.lda + i : i * p.lda + l;
            q.b += p.trans_b ? j * p.ldb + l : l * p.ldb + j;
            if (part == 0) {
                q.c += i * p.ldc + j;
            } else {
                q.c = partials + (part - 1) * size + i * p.n + j;
                q.ldc = p.n;
                q.beta = T{0};
            }
            if (direct)
                gemm_direct(q.trans_a, q.trans_b, q.m, q.n, q.k, q.alpha, q.a, q.lda, q.b, q.ldb, q.beta, q.c, q.ldc);
            else
                blas_gemm(q);
        }
    });
    if (nk == 1) return;

    // C += the partial sums, in their order.
    parallel_for(p.m, std::max<Int>(1, 16384 / p.n), [&](Int begin, Int end) {
        for (Int i = begin; i < end; ++i)
            for (Int part = 0; part < nk - 1; ++part) {
                const T* from = partials + part * size + i * p.n;
                T* to = p.c + i * p.ldc;
                for (Int j = 0; j < p.n; ++j) to[j] += from[j];
            }
    });
}

}  // namespace

template <class T>
void gemm(bool trans_a, bool trans_b, Int m, Int n, Int k, T alpha, const T* a, Int lda, const T* b, Int ldb, T beta,
          T* c, Int ldc) {
    check(trans_a, trans_b, m, n, k, lda, ldb, ldc);
    if (m == 0 || n == 0) return;
    if (k == 0 || alpha == T{0}) return scale(m, n, beta, c, ldc);
    if (n == 1 && ldc == 1 && (trans_b || ldb == 1))
        return gemv(trans_a, trans_a ? k : m, trans_a ? m : k, alpha, a, lda, b, beta, c);
    if (m == 1 && (!trans_a || lda == 1))
        return gemv(!trans_b, trans_b ? n : k, trans_b ? k : n, alpha, b, ldb, a, beta, c);
    const bool direct = prefers_direct(m, n, k);
    if (direct && work_of(m, n, k) < 2 * direct_block)
        return gemm_direct(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    gemm_blocks<T>(direct, {trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
}

template <class T>
void gemm(bool trans_a, bool trans_b, Int m, Int n, Int k, T alpha, const T* a, const T* b, T beta, T* c) {
    gemm(trans_a, trans_b, m, n, k, alpha, a, trans_a ? m : k, b, trans_b ? k : n, beta, c, n);
}

std::string blas_kernel_family() { return openblas_family(); }

#define POLLEN_INSTANTIATE_GEMM(T)                                               \
    template void gemm(bool, bool, Int, Int, Int, T, const T*, const T*, T, T*); \
    template void gemm(bool, bool, Int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int);
POLLEN_INSTANTIATE_GEMM(float)
POLLEN_INSTANTIATE_GEMM(double)
#undef POLLEN_INSTANTIATE_GEMM

}  // namespace pollen::kernels
