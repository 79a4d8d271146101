#include <pollen/autograd/kernels/winograd_product.hpp>

#include <pollen/autograd/kernels/product.hpp>
#include <pollen/autograd/kernels/rounding.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;
using Vector = Batch<float>;

constexpr Int width = lanes<float>;

// The tile that fills the registers, as in gemm_packed.cpp.
#if defined(__AVX512F__)
constexpr int most_rows = 14, most_vectors = 2;
#elif defined(__aarch64__)
constexpr int most_rows = 8, most_vectors = 3;
#else
constexpr int most_rows = 6, most_vectors = 2;
#endif
constexpr Int panel_width = most_vectors * width;

struct TileOperands {
    Int k;
    const float* a;
    Int lda;
    const float* b;
    Int ldb;
    float* c;
    Int ldc;
    bool add;
};

// S(r, v) = sum_{p < count} A(r, p) B(p, v), one chain. A(r, p) is a[r * lda + p], or a[p * lda + r] if transposed.
template <int R, int V, bool transposed>
POLLEN_INLINE inline void chain(Int count, const float* a, Int lda, const float* b, Int ldb, Vector (&sum)[R][V]) {
    unroll<R * V>([&](auto i) POLLEN_INLINE { sum[i / V][i % V] = Vector(0.0f); });
    for (Int p = 0; p < count; ++p, a += transposed ? lda : 1, b += ldb) {
        Vector row[V];
        unroll<V>([&](auto v) POLLEN_INLINE {
            row[v] = Vector::load_aligned(b + v * width);
            pin<float>(row[v]);
        });
        unroll<R>([&](auto r) POLLEN_INLINE {
            const Vector x(transposed ? a[r] : a[r * lda]);
            unroll<V>([&](auto v) POLLEN_INLINE { sum[r][v] = multiply_add(x, row[v], sum[r][v]); });
        });
    }
}

template <int R, int V, bool transposed>
void winograd_tile(const TileOperands& o) {
    alignas(64) float total[R * V * width];
    Vector sum[R][V];
    for (Int p = 0; p < o.k; p += winograd_chain) {
        chain<R, V, transposed>(std::min(winograd_chain, o.k - p), o.a + (transposed ? p * o.lda : p), o.lda,
                                o.b + p * o.ldb, o.ldb, sum);
        if (p > 0)
            unroll<R * V>([&](auto i) POLLEN_INLINE {
                sum[i / V][i % V] = Vector::load_aligned(total + i * width) + sum[i / V][i % V];
            });
        if (p + winograd_chain < o.k)
            unroll<R * V>([&](auto i) POLLEN_INLINE { sum[i / V][i % V].store_aligned(total + i * width); });
    }
    unroll<R * V>([&](auto i) POLLEN_INLINE {
        float* to = o.c + i / V * o.ldc + i % V * width;
        Vector y = sum[i / V][i % V];
        if (o.add) y = Vector::load_aligned(to) + y;
        y.store_aligned(to);
    });
}

template <bool transposed>
auto winograd_tile_of(Int rows, Int vectors) {
    using Function = void (*)(const TileOperands&);
    static constexpr auto table = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<Function, sizeof...(I)>{winograd_tile<static_cast<int>(I) / most_vectors + 1,
                                                                static_cast<int>(I) % most_vectors + 1, transposed>...};
    }
    (std::make_index_sequence<static_cast<std::size_t>(most_rows * most_vectors)>());
    return table[static_cast<std::size_t>((rows - 1) * most_vectors + vectors - 1)];
}

}  // namespace

Int ColumnPanels::size() const { return parts_of(columns, panel_width) * panel_width * rows; }
Int ColumnPanels::at(Int i, Int j) const { return (j / panel_width * rows + i) * panel_width + j % panel_width; }

void winograd_product(Int m, Int n, Int k, const float* a, Int lda, const float* b, float* c, Int ldc) {
    const Int height = parts_of(m, parts_of(m, most_rows));
    for (Int j = 0; j < n; j += panel_width, b += k * panel_width) {
        const Int vectors = std::min(panel_width, n - j) / width;
        for (Int i = 0; i < m; i += height)
            winograd_tile_of<false>(std::min(height, m - i),
                                    vectors)({k, a + i * lda, lda, b, panel_width, c + i * ldc + j, ldc, false});
    }
}

void winograd_sum(Int m, Int n, Int k, const float* a, Int lda, const float* b, Int ldb, float* c, Int ldc, bool add) {
    const Int height = parts_of(m, parts_of(m, most_rows));
    for (Int j = 0; j < n; j += panel_width) {
        const Int vectors = std::min(panel_width, n - j) / width;
        for (Int i = 0; i < m; i += height)
            winograd_tile_of<true>(std::min(height, m - i),
                                   vectors)({k, a + i, lda, b + j, ldb, c + i * ldc + j, ldc, add});
    }
}

}  // namespace pollen::kernels
