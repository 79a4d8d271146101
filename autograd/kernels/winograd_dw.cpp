#include <pollen/autograd/kernels/winograd.hpp>

#include <pollen/autograd/kernels/product.hpp>
#include <pollen/autograd/kernels/transpose_tile.hpp>
#include <pollen/autograd/kernels/winograd_layer.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/tensor.hpp>

#include <algorithm>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;
using Vector = Batch<float>;

// dW += G' M G for M[point][input][output].
template <class A>
void points_to_kernels(const WinogradShape& s, const PointValues& m, float beta, float* dw) {
    constexpr int r = A::taps, points = A::points;
    parallel_for(parts_of(s.out, channel_block), 1, [&](Int begin, Int end) {
        alignas(64) float taps[r * r * channel_block];
        for (Int block = begin; block < end; ++block)
            for (Int c = 0; c < s.in; ++c) {
                const Int o = block * channel_block;
                for (Int lane = 0; lane < channel_block; lane += lanes<float>) {
                    const float* in = m.values + c * m.ld + o + lane;
                    Vector half[points][r];
                    unroll<points>([&](auto q) POLLEN_INLINE {
                        Vector t[points];
                        unroll<points>([&](auto p) POLLEN_INLINE {
                            t[p] = Vector::load_aligned(in + (p * points + q) * m.stride);
                        });
                        A::kernel_transposed(t, half[q]);
                    });
                    unroll<r>([&](auto i) POLLEN_INLINE {
                        Vector t[points], g[r];
                        unroll<points>([&](auto q) POLLEN_INLINE { t[q] = half[q][i]; });
                        A::kernel_transposed(t, g);
                        unroll<r>([&](auto j)
                                      POLLEN_INLINE { g[j].store_aligned(taps + (i * r + j) * channel_block + lane); });
                    });
                }
                float* to = dw + (o * s.in + c) * r * r;
                const Int count = std::min(channel_block, s.out - o);
                if (beta == 0)
                    transpose_tile<float, false>(taps, channel_block, to, s.in * r * r, count, r * r);
                else
                    transpose_tile<float, true>(taps, channel_block, to, s.in * r * r, count, r * r);
            }
    });
}

// Tiles are transformed in waves, by all threads; then the threads share the points. A wave has some groups of about
// 256 tiles, whose sums are added in order. With few channels there is little work for each tile, so a wave has more
// groups.
template <class A>
void backward_w(const WinogradShape& s, const float* x, const float* dy, float beta, float* dw, Pool& pool) {
    constexpr Int points = A::points * A::points, group_tiles = 256;
    const TileRows of_x = rows_of_x<A>(s), of_y = rows_of_y<A>(s);
    const Int rows = s.batch * of_x.rows, tiles_w = of_x.columns;
    const Int group = std::max<Int>(1, group_tiles / tiles_w), wave = group * std::max<Int>(1, 128 / (s.in + s.out));
    const Int most = std::min(wave, rows) * tiles_w;
    const Int ld_x = row_stride(s.in), ld_y = row_stride(s.out);
    const Int stride_x = point_stride(most * ld_x), stride_y = point_stride(most * ld_y);
    const Int stride_m = point_stride(s.in * ld_y);
    Tensor<float> room = Tensor<float>::empty(Shape{points, stride_x + stride_y + stride_m}, pool);
    const PointValues v{room.fresh_data(), stride_x, ld_x};
    const PointValues t{v.values + points * stride_x, stride_y, ld_y};
    const PointValues m{t.values + points * stride_y, stride_m, ld_y};
    const Int blocks_x = parts_of(s.in, channel_block), blocks_y = parts_of(s.out, channel_block);
    const Int share = std::max<Int>(1, 32 / tiles_w);  // rows that are transformed together
    for (Int first = 0; first < rows; first += wave) {
        const Int last = std::min(rows, first + wave), shares = parts_of(last - first, share);
        parallel_for(shares * (blocks_x + blocks_y), 1, [&](Int begin, Int end) {
            for (Int unit = begin; unit < end; ++unit) {
                const Int from = first + unit % shares * share, to = std::min(last, from + share);
                const Int block = unit / shares, tile = (from - first) * tiles_w;
                if (block < blocks_x)
                    to_points<DataTransform<A>, 6, A::results, A::points>(of_x, x, from, to, block * channel_block,
                                                                          {v.values + tile * ld_x, stride_x, ld_x});
                else
                    to_points<ResultTransposed<A>, A::results, A::results, A::points>(
                        of_y, dy, from, to, (block - blocks_x) * channel_block,
                        {t.values + tile * ld_y, stride_y, ld_y});
            }
        });
        parallel_for(points, 1, [&](Int begin, Int end) {
            for (Int p = begin; p < end; ++p)
                for (Int from = first; from < last; from += group) {
                    const Int tile = (from - first) * tiles_w, tiles = (std::min(last, from + group) - from) * tiles_w;
                    winograd_sum(s.in, whole_blocks(s.out), tiles, v.values + p * stride_x + tile * ld_x, ld_x,
                                 t.values + p * stride_y + tile * ld_y, ld_y, m.values + p * stride_m, ld_y, from > 0);
                }
        });
    }
    points_to_kernels<A>(s, m, beta, dw);
}

}  // namespace

void winograd_dw(const WinogradShape& s, const float* x, const float* dy, float beta, float* dw, Pool& pool) {
    if (s.batch == 0) {
        if (beta == 0) std::fill_n(dw, s.out * s.in * s.taps * s.taps, 0.0f);
        return;
    }
    if (s.taps == 5) return backward_w<SevenPoints<2>>(s, x, dy, beta, dw, pool);
    // A sum over few tiles is short, so the errors of the transforms count for more.
    constexpr Int few_tiles = 16;
    const TileRows y = rows_of_y<SixPoints<4>>(s);
    return y.rows * y.columns < few_tiles ? backward_w<SevenPoints<4>>(s, x, dy, beta, dw, pool)
                                          : backward_w<SixPoints<4>>(s, x, dy, beta, dw, pool);
}

}  // namespace pollen::kernels
