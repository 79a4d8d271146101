#include <pollen/autograd/kernels/winograd.hpp>

#include <pollen/autograd/kernels/map.hpp>
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

// Below 16 channels the transforms take longer than the products that they save. Tiles of small images may be mostly
// empty, and rows of very many tiles leave the cache. Direct sums of few terms have small errors: those of dW for
// images of few results, and those near the border, where kernels reach into the padding. So an image must have at
// least 16 results, and at most 16 % of what the kernels read may be padding.
bool winograd_use(const WinogradShape& s) {
    if (s.taps != 3 && s.taps != 5) return false;
    const Int m = 7 - s.taps, h = s.out_h(), w = s.out_w();
    const Int tiles_h = parts_of(h, m), tiles_w = parts_of(w, m);
    const bool full = 2 * tiles_h * tiles_w * m * m <= 3 * h * w, fits = tiles_w <= 256;
    if (s.in < 16 || s.out < 16 || h * w < 16 || !full || !fits) return false;
    const auto inside = [&](Int results, Int pixels, Int pad) {
        Int count = 0;
        for (Int i = 0; i < results; ++i)
            count += std::max<Int>(0, std::min(pixels, i - pad + s.taps) - std::max<Int>(0, i - pad));
        return count;
    };
    return 100 * inside(h, s.height, s.pad_h) * inside(w, s.width, s.pad_w) >= 84 * h * w * s.taps * s.taps;
}

}  // namespace pollen::kernels
