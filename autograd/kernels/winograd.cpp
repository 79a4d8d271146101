#include <pollen/autograd/kernels/winograd.hpp>

#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/kernels/product.hpp>
#include <pollen/autograd/kernels/transpose_tile.hpp>
#include <pollen/autograd/kernels/winograd_tiles.hpp>
#include <pollen/autograd/kernels/winograd_transforms.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/tensor.hpp>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;
using Vector = Batch<float>;

// The transforms of an algorithm as types, for to_points and from_points.
template <class A>
struct DataTransform {
    template <int n, int p>
    POLLEN_INLINE static void run(const Vector (&d)[n], Vector (&t)[p]) {
        A::data(d, t);
    }
};
template <class A>
struct DataTransposed {
    template <int n, int p>
    POLLEN_INLINE static void run(const Vector (&t)[p], Vector (&d)[n]) {
        A::data_transposed(t, d);
    }
};
template <class A>
struct ResultTransform {
    template <int n, int p>
    POLLEN_INLINE static void run(const Vector (&t)[p], Vector (&y)[n]) {
        A::result(t, y);
    }
};
template <class A>
struct ResultTransposed {
    template <int n, int p>
    POLLEN_INLINE static void run(const Vector (&y)[n], Vector (&t)[p]) {
        A::result_transposed(y, t);
    }
};

template <class A>
TileRows rows_of_y(const WinogradShape& s) {
    return {parts_of(s.out_h(), A::results), parts_of(s.out_w(), A::results), s.out_h(), s.out_w(), s.out};
}
template <class A>
TileRows rows_of_x(const WinogradShape& s) {
    const TileRows y = rows_of_y<A>(s);
    return {y.rows, y.columns, s.height, s.width, s.in, s.pad_h, s.pad_w};
}

// G g G' for the kernels in `taps`, [tap][16], to the vectors at(point).
template <class A, class At>
void kernel_to_points(const float* taps, const At& at) {
    constexpr int r = A::taps, points = A::points;
    for (Int lane = 0; lane < channel_block; lane += lanes<float>) {
        Vector half[r][points];
        unroll<r>([&](auto j) POLLEN_INLINE {
            Vector g[r];
            unroll<r>([&](auto i)
                          POLLEN_INLINE { g[i] = Vector::load_aligned(taps + (i * r + j) * channel_block + lane); });
            A::kernel(g, half[j]);
        });
        unroll<points>([&](auto p) POLLEN_INLINE {
            Vector g[r], t[points];
            unroll<r>([&](auto j) POLLEN_INLINE { g[j] = half[j][p]; });
            A::kernel(g, t);
            unroll<points>([&](auto q) POLLEN_INLINE { t[q].store_aligned(at(p * points + q, lane)); });
        });
    }
}

// Kernels at the points, as the right-hand sides of the products: for Y sums run over inputs and the columns are
// outputs, for dX the other way round.
template <class A>
class KernelPoints {
  public:
    KernelPoints(const WinogradShape& s, const float* w, bool of_dx, Pool& pool)
        : panels_{of_dx ? s.out : s.in, whole_blocks(of_dx ? s.in : s.out)},
          room_(Tensor<float>::empty(Shape{A::points * A::points, panels_.size()}, pool)),
          values_(room_.fresh_data()) {
        const Int taps = A::taps * A::taps, columns = of_dx ? s.in : s.out;
        const Int step_row = of_dx ? s.in * taps : taps, step_column = of_dx ? taps : s.in * taps;
        parallel_for(parts_of(columns, channel_block), 1, [&](Int begin, Int end) {
            alignas(64) float kernels[A::taps * A::taps * channel_block];
            for (Int block = begin; block < end; ++block) {
                const Int j = block * channel_block, count = std::min(channel_block, columns - j);
                std::fill_n(kernels, taps * channel_block, 0.0f);
                for (Int i = 0; i < panels_.rows; ++i) {
                    transpose_tile<float, false>(w + i * step_row + j * step_column, step_column, kernels,
                                                 channel_block, taps, count);
                    kernel_to_points<A>(kernels, [&](Int point, Int lane) {
                        return values_ + point * panels_.size() + panels_.at(i, j + lane);
                    });
                }
            }
        });
    }
    const float* operator[](Int point) const { return values_ + point * panels_.size(); }
    Int rows() const { return panels_.rows; }
    Int columns() const { return panels_.columns; }

  private:
    ColumnPanels panels_;
    Tensor<float> room_;
    float* values_;
};

struct PointsOfInput;
struct PointsOfOutput;

// Tiles that a thread takes at a time: their values at all points should stay in its cache.
Int tiles_at_once(const WinogradShape& s) { return s.in + s.out > 128 ? 42 : 84; }

// How many of `n` units of so many tiles go to a task: about `tiles`, and where there are few tasks a number of them
// that 2 or 4 threads can share evenly.
Int units_per_task(Int n, Int tiles_each, Int tiles) {
    const Int most = std::max<Int>(1, tiles / tiles_each);
    const Int tasks = std::max<Int>(1, parts_of(n, most));
    return tasks >= 16 ? most : std::max<Int>(1, parts_of(n, (tasks + 3) / 4 * 4));
}

// values at the points -> products -> values at the points, for some tiles. Memory belongs to the thread.
template <class A>
PointValues multiply(const PointValues& in, Int tiles, const KernelPoints<A>& kernels) {
    constexpr Int points = A::points * A::points;
    const Int ld = row_stride(kernels.columns()), stride = point_stride(tiles * ld);
    PointValues out{scratch<float, PointsOfOutput>(points * stride), stride, ld};
    for (Int p = 0; p < points; ++p)
        winograd_product(tiles, kernels.columns(), kernels.rows(), in.values + p * in.stride, in.ld, kernels[p],
                         out.values + p * stride, ld);
    return out;
}

template <class A>
PointValues input_room(Int tiles, Int channels) {
    const Int ld = row_stride(channels), stride = point_stride(tiles * ld);
    return {scratch<float, PointsOfInput>(A::points * A::points * stride), stride, ld};
}

// Adds the bias to a line of [pixel][channel] and rectifies it.
void finish_line(const WinogradShape& s, const Finish<float>& finish, Int channel, float* line, Int pixels) {
    if (!finish.bias && !finish.relu) return;
    alignas(64) float shift[channel_block] = {};
    if (finish.bias) std::copy_n(finish.bias + channel, std::min(channel_block, s.out - channel), shift);
    for (Int at = 0; at < pixels * channel_block; at += lanes<float>) {
        const Vector z = Vector::load_aligned(line + at) + Vector::load_aligned(shift + at % channel_block);
        (finish.relu ? WhereAbove{}(z) : z).store_aligned(line + at);
    }
}

struct PairsOfLines;

// Keeps a line of a block of channels, and with the next one makes a line of pooled images of the two.
void pool_line(const WinogradShape& s, const Finish<float>& finish, Int image, Int channel, Int line,
               const float* numbers, Int pixels, float* y) {
    const Int count = std::min(channel_block, s.out - channel), height = s.out_h() / 2, width = s.out_w() / 2;
    float* room = scratch<float, PairsOfLines>(2 * channel_block * s.out_w());
    store_line(numbers, {room, count, 2, s.out_w()}, line % 2, 0, pixels, false);
    if (line % 2 == 0 || line >= s.out_h()) return;
    for (Int c = 0; c < count; ++c) {
        const Int to = ((image * s.out + channel + c) * height + line / 2) * width;
        const float* top = room + 2 * c * s.out_w();
        largest_of_four(width, top, top + s.out_w(), y + to, finish.places + to);
    }
}

template <class A>
void forward(const WinogradShape& s, const float* x, const float* w, const Finish<float>& finish, float* y,
             Pool& pool) {
    const TileRows from = rows_of_x<A>(s), to = rows_of_y<A>(s);
    const KernelPoints<A> kernels(s, w, false, pool);
    const Int rows = s.batch * to.rows;
    parallel_for(rows, units_per_task(rows, to.columns, tiles_at_once(s)), [&](Int begin, Int end) {
        const Int tiles = (end - begin) * to.columns;
        const PointValues v = input_room<A>(tiles, s.in);
        for (Int c = 0; c < s.in; c += channel_block)
            to_points<DataTransform<A>, 6, A::results, A::points>(from, x, begin, end, c, v);
        const PointValues m = multiply(v, tiles, kernels);
        for (Int o = 0; o < s.out; o += channel_block)
            from_points<ResultTransform<A>, A::results, A::results, A::points>(
                to, m, begin, end, o, [&](Int row, Int line, float* numbers, Int pixels, bool) {
                    finish_line(s, finish, o, numbers, pixels);
                    if (finish.max_pool)
                        pool_line(s, finish, row / to.rows, o, line, numbers, pixels, y);
                    else
                        store_line(numbers, to.planes(y, row, o), line, 0, pixels, false);
                });
    });
}

template <class A>
void backward_x(const WinogradShape& s, const float* dy, const float* w, float beta, float* dx, Pool& pool) {
    const TileRows from = rows_of_y<A>(s), to = rows_of_x<A>(s);
    const KernelPoints<A> kernels(s, w, true, pool);
    const Int tiles_each = from.rows * from.columns;
    const Int rows_at_once = std::max<Int>(1, tiles_at_once(s) / from.columns);
    parallel_for(s.batch, units_per_task(s.batch, tiles_each, tiles_at_once(s)), [&](Int first, Int last) {
        const Int all_end = last * from.rows;
        for (Int begin = first * from.rows; begin < all_end;) {
            // Rows of one image, cut in the same way for every image, or all rows of some images.
            const Int image_end = last - first > 1 ? all_end : (begin / from.rows + 1) * from.rows;
            const Int end = last - first > 1 ? all_end : std::min(image_end, begin + rows_at_once);
            const Int tiles = (end - begin) * from.columns;
            const PointValues v = input_room<A>(tiles, s.out);
            for (Int o = 0; o < s.out; o += channel_block)
                to_points<ResultTransposed<A>, A::results, A::results, A::points>(from, dy, begin, end, o, v);
            const PointValues m = multiply(v, tiles, kernels);
            for (Int c = 0; c < s.in; c += channel_block)
                from_points<DataTransposed<A>, 6, A::results, A::points>(
                    to, m, begin, end, c, [&](Int row, Int line, const float* numbers, Int pixels, bool again) {
                        store_line(numbers, to.planes(dx, row, c), line - to.top, -to.left, pixels, beta != 0 || again);
                    });
            begin = end;
        }
    });
}

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
// 256 tiles, whose sums are added in order: more groups if there are few channels, so that a wave is worth its while.
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

void winograd_y(const WinogradShape& s, const float* x, const float* w, const Finish<float>& finish, float* y,
                Pool& pool) {
    return s.taps == 3 ? forward<SixPoints<4>>(s, x, w, finish, y, pool)
                       : forward<SixPoints<2>>(s, x, w, finish, y, pool);
}

void winograd_dx(const WinogradShape& s, const float* dy, const float* w, float beta, float* dx, Pool& pool) {
    return s.taps == 3 ? backward_x<SevenPoints<4>>(s, dy, w, beta, dx, pool)
                       : backward_x<SevenPoints<2>>(s, dy, w, beta, dx, pool);
}

void winograd_dw(const WinogradShape& s, const float* x, const float* dy, float beta, float* dw, Pool& pool) {
    if (s.batch == 0) {
        if (beta == 0) std::fill_n(dw, s.out * s.in * s.taps * s.taps, 0.0f);
        return;
    }
    return s.taps == 3 ? backward_w<SixPoints<4>>(s, x, dy, beta, dw, pool)
                       : backward_w<SevenPoints<2>>(s, x, dy, beta, dw, pool);
}

// Below 16 channels the transforms take longer than the products that they save. Tiles of small images may be mostly
// empty, and rows of very many tiles leave the cache.
WinogradUse winograd_use(const WinogradShape& s) {
    if (s.taps != 3 && s.taps != 5) return {};
    const Int m = 7 - s.taps, h = s.out_h(), w = s.out_w();
    const Int tiles_h = parts_of(h, m), tiles_w = parts_of(w, m);
    const bool full = 2 * tiles_h * tiles_w * m * m <= 3 * h * w, fits = tiles_w <= 256;
    const bool use = s.in >= 16 && s.out >= 16 && full && fits;
    return {use, use, use};
}

}  // namespace pollen::kernels
