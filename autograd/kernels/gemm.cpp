#include <pollen/autograd/kernels/gemm.hpp>

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/gemm_blas.hpp>
#include <pollen/autograd/kernels/gemm_direct.hpp>
#include <pollen/autograd/kernels/gemm_packed.hpp>
#include <pollen/autograd/kernels/gemm_tile.hpp>
#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/kernels/matrix_by_vector.hpp>
#include <pollen/autograd/kernels/vector_by_matrix.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

constexpr Int max_int = std::numeric_limits<int>::max();

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

template <class T>
double flops(const Product<T>& p) {
    return 2 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

// How a product that one thread computes by `serial` is shared by many.
template <class T>
struct Sharing {
    void (*serial)(const Product<T>&);
    double least;               // flops that are worth a task
    Int rows = 1, columns = 1;  // that a task should have at least, if C has more
};

// How C, or the sum over p, is cut into tasks.
struct TaskCut {
    Int rows, columns;  // of C, that a task computes
    Int blocks = 0;     // of p, that a task sums over; 0: all of them
};

template <class T>
TaskCut task_cut(const Product<T>& p, const Sharing<T>& by) {
    const Int tasks = static_cast<Int>(std::min(flops(p) / by.least, 64.0));
    if (tasks < 2) return {p.m, p.n};
    const Int tasks_m = std::clamp<Int>(p.m / by.rows, 1, tasks);
    const Int tasks_n = std::clamp<Int>(p.n / by.columns, 1, tasks / tasks_m);
    if (2 * tasks_m * tasks_n <= tasks && p.k >= 4 * inner_block) {
        const double block_flops = 2 * static_cast<double>(p.m * p.n) * static_cast<double>(inner_block);
        return {p.m, p.n, std::max<Int>(1, static_cast<Int>(by.least / block_flops))};
    }
    const auto share_of = [](Int n, Int parts) { return parts == 1 ? n : (n + parts * 16 - 1) / (parts * 16) * 16; };
    return {share_of(p.m, tasks_m), share_of(p.n, tasks_n)};
}

// Rows and columns of C go to different tasks.
template <class T>
void share_out(const Product<T>& p, const TaskCut& cut, const Sharing<T>& by) {
    const Int across = parts_of(p.n, cut.columns);
    parallel_for(parts_of(p.m, cut.rows) * across, 1, [&](Int begin, Int end) {
        for (Int task = begin; task < end; ++task)
            by.serial(block_of(p, task / across * cut.rows, cut.rows, task % across * cut.columns, cut.columns));
    });
}

struct InnerSums;

// Blocks of the inner dimension go to different tasks. Their sums are kept apart, and added to C in their order.
template <class T>
void share_out_sum(const Product<T>& p, Int share, const Sharing<T>& by) {
    constexpr Int room = Int{1} << 18;
    const Int size = p.m * p.n, blocks = parts_of(p.k, inner_block), wave = std::max(Int{1}, room / size);
    T* sums = scratch<T, InnerSums>(std::min(wave, blocks) * size);
    for (Int first = 0; first < blocks; first += wave) {
        const Int count = std::min(wave, blocks - first);
        parallel_for(count, share, [&](Int begin, Int end) {
            for (Int b = begin; b < end; ++b) {
                Product<T> q = inner_part_of(p, (first + b) * inner_block, inner_block);
                q.beta = T{0};
                q.c = sums + b * size;
                q.ldc = p.n;
                by.serial(q);
            }
        });
        for (Int b = 0; b < count; ++b)
            for (Int i = 0; i < p.m; ++i) {
                const T* from = sums + b * size + i * p.n;
                T* to = p.c + i * p.ldc;
                if (first + b > 0)
                    for (Int j = 0; j < p.n; ++j) to[j] += from[j];
                else if (p.beta == T{0})
                    std::copy_n(from, p.n, to);
                else
                    for (Int j = 0; j < p.n; ++j) to[j] = std::fma(p.beta, to[j], from[j]);
            }
    }
}

template <class T>
void share(const Product<T>& p, const Sharing<T>& by) {
    const TaskCut cut = task_cut(p, by);
    if (cut.blocks > 0) return share_out_sum(p, cut.blocks, by);
    if (cut.rows == p.m && cut.columns == p.n) return by.serial(p);
    share_out(p, cut, by);
}

// Small matrices, and those with one short side.
bool prefers_direct(Int m, Int n, Int k) {
    constexpr Int small = 48 * 48 * 48;
    return m <= 12 || n <= 24 || k <= 16 || (m * n <= small && m * n * k <= small);
}

template <class T>
constexpr Sharing<T> by_direct{gemm_direct<T>, 1.5e6, 64, 64};

// A product with one row, or one column, as one with a row that is contiguous.
template <class T>
Product<T> with_row(const Product<T>& p) {
    Product<T> q = p;
    if (p.n == 1 && p.ldc == 1 && (p.trans_b || p.ldb == 1))  // C' = B' A'
        q = {false, !p.trans_a, 1, p.m, p.k, p.alpha, p.b, p.k, p.a, p.lda, p.beta, p.c, p.m};
    if (q.m == 1 && q.lda == 1) q.trans_a = false;
    return q;
}

// How a product is computed that is not large on every side.
template <class T>
std::optional<Sharing<T>> shared(const Product<T>& p) {
    if (p.m == 1 && !p.trans_a)
        return p.trans_b ? Sharing<T>{matrix_by_vector<T>, 1.3e5, 1, 64}
                         : Sharing<T>{vector_by_matrix<T>, 1.3e5, 1, 1024};
    if (prefers_direct(p.m, p.n, p.k)) return by_direct<T>;
    return {};
}

}  // namespace

template <class T>
void gemm(bool trans_a, bool trans_b, Int m, Int n, Int k, T alpha, const T* a, Int lda, const T* b, Int ldb, T beta,
          T* c, Int ldc) {
    check(trans_a, trans_b, m, n, k, lda, ldb, ldc);
    if (m == 0 || n == 0) return;
    if (k == 0 || alpha == T{0}) return scale(m, n, beta, c, ldc);
    const Product<T> p = with_row<T>({trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});
    if (const auto by = shared(p)) return share(p, *by);
#ifdef POLLEN_BLAS
    gemm_blas(p);
#else
    gemm_packed(p);
#endif
}

template <class T>
void gemm_affine(Int m, Int n, Int k, const T* x, const T* w, const T* bias, bool relu, T* y) {
    if (m > 1 && n > 1 && k > 0 && k <= inner_block && prefers_direct(m, n, k))
        return share<T>({false, true, m, n, k, T{1}, x, k, w, k, T{0}, y, n, bias, relu}, by_direct<T>);
    for (Int i = 0; i < m; ++i) std::copy_n(bias, n, y + i * n);
    gemm(false, true, m, n, k, T{1}, x, w, T{1}, y);
    if (relu) map(m * n, y, WhereAbove{}, Stream<T>{y});
}

template <class T>
std::vector<Int> gemm_tasks(Int m, Int n, Int k) {
    const Product<T> p = with_row<T>({false, false, m, n, k, T(1), nullptr, k, nullptr, n, T(0), nullptr, n});
    std::vector<Int> tasks;
    const auto cut_into = [&](Int rows, Int columns) {
        for (Int j = 0; j < p.n; j += columns)
            for (Int i = 0; i < p.m; i += rows)
                tasks.push_back(std::min(rows, p.m - i) * std::min(columns, p.n - j) * k);
    };
    if (const auto by = shared(p)) {
        const TaskCut cut = task_cut(p, *by);
        if (cut.blocks == 0)
            cut_into(cut.rows, cut.columns);
        else
            for (Int first = 0; first < k; first += cut.blocks * inner_block)
                tasks.push_back(p.m * p.n * std::min(cut.blocks * inner_block, k - first));
    } else {
        const PackedCut cut = packed_cut<T>(m, n, k);
        cut_into(cut.rows * cut.panel_rows, cut.columns * cut.panel_columns);
    }
    return tasks;
}

template <class T>
void gemm(bool trans_a, bool trans_b, Int m, Int n, Int k, T alpha, const T* a, const T* b, T beta, T* c) {
    gemm(trans_a, trans_b, m, n, k, alpha, a, trans_a ? m : k, b, trans_b ? k : n, beta, c, n);
}

#define POLLEN_INSTANTIATE_GEMM(T)                                                              \
    template void gemm(bool, bool, Int, Int, Int, T, const T*, const T*, T, T*);                \
    template void gemm(bool, bool, Int, Int, Int, T, const T*, Int, const T*, Int, T, T*, Int); \
    template void gemm_affine(Int, Int, Int, const T*, const T*, const T*, bool, T*);           \
    template std::vector<Int> gemm_tasks<T>(Int, Int, Int);
POLLEN_INSTANTIATE_GEMM(float)
POLLEN_INSTANTIATE_GEMM(double)
#undef POLLEN_INSTANTIATE_GEMM

}  // namespace pollen::kernels
