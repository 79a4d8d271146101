#include <pollen/autograd/kernels/gemm_packed.hpp>

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/gemm_tile.hpp>
#include <pollen/autograd/kernels/transpose_tile.hpp>
#include <pollen/autograd/parallel.hpp>

#include <array>
#include <utility>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

// The tile that fills the registers: 32 of them with AVX-512 and NEON, 16 with AVX2.
#if defined(__AVX512F__)
constexpr int tile_rows = 14, tile_vectors = 2;
#elif defined(__aarch64__)
constexpr int tile_rows = 8, tile_vectors = 3;
#else
constexpr int tile_rows = 6, tile_vectors = 2;
#endif

template <class T>
constexpr Int panel_columns = tile_vectors* lanes<T>;

// S(r, v) = sum_p A(r, p) B(p, v)        A(r, p) is a[p * step_a + r], B(p, j) is b[p * panel_columns + j]
template <class T, int R, int V>
void packed_tile(Int k, const T* a, Int step_a, const T* b, T* c, Int ldc, Int last, T alpha, T beta) {
    constexpr Int W = lanes<T>;
    Batch<T> sum[R][V];
    unroll<R * V>([&](auto i) POLLEN_INLINE { sum[i / V][i % V] = Batch<T>(T{0}); });
    for (Int p = 0; p < k; ++p, a += step_a, b += panel_columns<T>) {
        Batch<T> row[V];
        unroll<V>([&](auto v) POLLEN_INLINE {
            row[v] = Batch<T>::load_aligned(b + v * W);
            pin<T>(row[v]);
        });
        unroll<R>([&](auto r) POLLEN_INLINE {
            const Batch<T> x(a[r]);
            unroll<V>([&](auto v) POLLEN_INLINE { sum[r][v] = multiply_add(x, row[v], sum[r][v]); });
        });
    }
    store_tile<T, R, V>(sum, c, ldc, last, alpha, beta);
}

template <class T>
using TileFunction = void (*)(Int, const T*, Int, const T*, T*, Int, Int, T, T);

// packed_tile<T, rows, vectors>
template <class T>
TileFunction<T> tile_function(Int rows, Int vectors) {
    static constexpr auto table = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<TileFunction<T>, sizeof...(I)>{
            packed_tile<T, static_cast<int>(I) / tile_vectors + 1, static_cast<int>(I) % tile_vectors + 1>...};
    }
    (std::make_index_sequence<static_cast<std::size_t>(tile_rows * tile_vectors)>());
    return table[static_cast<std::size_t>((rows - 1) * tile_vectors + vectors - 1)];
}

// to[p * width + j] = op(X)(p, j) for p < k, j < count; x points at op(X)(0, 0). `along` says that op(X)(p, j) and
// op(X)(p, j + 1) are neighbours in memory. Numbers behind j = count are anything if `count < width`.
template <class T>
void pack_panel(bool along, Int k, Int count, Int width, const T* x, Int ld, T* to) {
    if (!along) return transpose_tile<T, false>(x, ld, to, width, k, count);
    constexpr Int W = lanes<T>;
    const Int whole = count / W * W;
    for (Int p = 0; p < k; ++p, x += ld, to += width) {
        for (Int j = 0; j < whole; j += W) Batch<T>::load_unaligned(x + j).store_unaligned(to + j);
        if (whole < count) store_first(to + whole, load_first(x + whole, count - whole), count - whole);
    }
}

struct PackedA;
struct PackedB;

// The most elements of A and B that are packed at a time.
constexpr Int most_packed = Int{1} << 24;

template <class T>
class Packed {
  public:
    explicit Packed(const Product<T>& p) : p_(p), cut_(packed_cut<T>(p.m, p.n, p.k)), height_(cut_.panel_rows) {}

    void run() {
        const Int across = cut_.panels_m * height_ + cut_.panels_n * panel_columns<T>;
        const Int share = std::max(Int{1}, most_packed / across / inner_block) * inner_block;
        a_ = scratch<T, PackedA>(cut_.panels_m * height_ * std::min(share, p_.k));
        b_ = scratch<T, PackedB>(cut_.panels_n * panel_columns<T> * std::min(share, p_.k));
        for (first_ = 0; first_ < p_.k; first_ += share) {
            depth_ = std::min(share, p_.k - first_);
            pack();
            multiply();
        }
    }

  private:
    // Block b of the inner dimension begins at p = first_ + b * inner_block.
    Int length(Int block) const { return std::min(inner_block, depth_ - block * inner_block); }
    T* panel_a(Int block, Int i) const {
        return a_ + (block * inner_block * cut_.panels_m + i * length(block)) * height_;
    }
    T* panel_b(Int block, Int j) const {
        return b_ + (block * inner_block * cut_.panels_n + j * length(block)) * panel_columns<T>;
    }
    Int rows(Int i) const { return std::min(height_, p_.m - i * height_); }
    Int columns(Int j) const { return std::min(panel_columns<T>, p_.n - j * panel_columns<T>); }

    void pack() {
        const Int blocks = parts_of(depth_, inner_block), panels = cut_.panels_m + cut_.panels_n;
        parallel_for(blocks * panels, 4, [&](Int begin, Int end) {
            for (Int unit = begin; unit < end; ++unit) {
                const Int block = unit / panels, p = first_ + block * inner_block, panel = unit % panels;
                if (panel < cut_.panels_m) {
                    const Int i = panel * height_;
                    const T* from = p_.a + (p_.trans_a ? p * p_.lda + i : i * p_.lda + p);
                    pack_panel(p_.trans_a, length(block), rows(panel), height_, from, p_.lda, panel_a(block, panel));
                } else {
                    const Int j = (panel - cut_.panels_m) * panel_columns<T>, count = columns(panel - cut_.panels_m);
                    const T* from = p_.b + (p_.trans_b ? j * p_.ldb + p : p * p_.ldb + j);
                    T* to = panel_b(block, panel - cut_.panels_m);
                    if (count % lanes<T> != 0) std::fill_n(to, length(block) * panel_columns<T>, T{0});
                    pack_panel(!p_.trans_b, length(block), count, panel_columns<T>, from, p_.ldb, to);
                }
            }
        });
    }

    void multiply() {
        const Int down = parts_of(cut_.panels_m, cut_.rows);
        parallel_for(cut_.blocks(), 1, [&](Int begin, Int end) {
            for (Int unit = begin; unit < end; ++unit) {
                const Int i = unit % down * cut_.rows, j = unit / down * cut_.columns;
                multiply_block(i, std::min(cut_.panels_m, i + cut_.rows), j, std::min(cut_.panels_n, j + cut_.columns));
            }
        });
    }

    void multiply_block(Int i_begin, Int i_end, Int j_begin, Int j_end) {
        for (Int block = 0; block < parts_of(depth_, inner_block); ++block) {
            const T beta = first_ + block == 0 ? p_.beta : T{1};
            for (Int i = i_begin; i < i_end; ++i)
                for (Int j = j_begin; j < j_end; ++j) {
                    const Int vectors = parts_of(columns(j), lanes<T>);
                    const Int last = columns(j) - (vectors - 1) * lanes<T>;
                    T* c = p_.c + i * height_ * p_.ldc + j * panel_columns<T>;
                    tile_function<T>(rows(i), vectors)(length(block), panel_a(block, i), height_, panel_b(block, j), c,
                                                       p_.ldc, last, p_.alpha, beta);
                }
        }
    }

    Product<T> p_;
    PackedCut cut_;
    Int height_;  // rows of a panel of A
    T *a_ = nullptr, *b_ = nullptr;
    Int first_ = 0, depth_ = 0;  // the p that are packed
};

}  // namespace

// Blocks are as large as they can be while there are enough of them for many threads, and worth a task each.
template <class T>
PackedCut packed_cut(Int m, Int n, Int k) {
    const Int panels_m = parts_of(m, tile_rows);
    PackedCut cut{parts_of(m, panels_m), panel_columns<T>, panels_m, parts_of(n, panel_columns<T>), 1, 1};
    constexpr Int enough = 192;
    constexpr double least = 1e6;  // flops of a task
    const double tile = 2.0 * tile_rows * static_cast<double>(panel_columns<T>) * static_cast<double>(k);
    for (;;) {
        PackedCut larger = cut;
        (cut.rows <= cut.columns ? larger.rows : larger.columns) += 1;
        const bool small = static_cast<double>(cut.rows * cut.columns) * tile < least;
        if (larger.rows > 8 || (!small && larger.blocks() < enough)) return cut;
        if (larger.rows > larger.panels_m && larger.columns > larger.panels_n) return cut;
        cut = larger;
    }
}

// No more rows and columns at a time than keep the panels small, however large C is.
template <class T>
void gemm_packed(const Product<T>& p) {
    constexpr Int most = 16384;
    for (Int i = 0; i < p.m; i += most)
        for (Int j = 0; j < p.n; j += most) Packed<T>(block_of(p, i, most, j, most)).run();
}

template void gemm_packed(const Product<float>&);
template void gemm_packed(const Product<double>&);
template PackedCut packed_cut<float>(Int, Int, Int);
template PackedCut packed_cut<double>(Int, Int, Int);

}  // namespace pollen::kernels
