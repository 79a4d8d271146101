#include <pollen/autograd/kernels/conv2d.hpp>

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/conv2d_blocks.hpp>
#include <pollen/autograd/kernels/gemm_direct.hpp>
#include <pollen/autograd/kernels/transpose_tile.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/tensor.hpp>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

// to(i, j) = from(i, j)
template <class T>
void copy(Int rows, Int columns, const T* from, Int ld_from, T* to, Int ld_to) {
    Int j = 0;
    for (; j + lanes<T> <= columns; j += lanes<T>)
        for (Int i = 0; i < rows; ++i)
            Batch<T>::load_unaligned(from + i * ld_from + j).store_unaligned(to + i * ld_to + j);
    for (; j < columns; ++j)
        for (Int i = 0; i < rows; ++i) to[i * ld_to + j] = from[i * ld_from + j];
}

// Sums for `count` columns of a group, from `first` on: to c, which has the bias already, or with `keep` something else
// that they are added to.
template <class T>
void sum_panel(const Convolution& s, const RowBlocks& blocks, Int group, Int first, Int count, const T* x, const T* w,
               T keep, T* c, Int ldc) {
    T* patches = scratch<T, PatchesOfThread>(blocks.rows() * panel<T>);
    for (Int k = 0; k < blocks.channel_blocks() * blocks.cuts(); ++k) {
        const RowBlock block = blocks(group, k / blocks.cuts(), k % blocks.cuts());
        im2col(s, block, first, count, x, patches);
        gemm_direct<T>({false, false, s.out, count, block.rows, T(1), w + group * s.out * s.depth() + block.row,
                        s.depth(), patches, panel<T>, k > 0 ? T(1) : keep, c, ldc});
    }
}

template <class T>
void fill_with_bias(const Convolution& s, Int group, const T* bias, Int count, T* c, Int ldc) {
    for (Int o = 0; o < s.out; ++o) std::fill_n(c + o * ldc, count, bias[group * s.out + o]);
}

// The sums of some pairs of lines of an image stay in the cache until they are pooled.
template <class T>
void convolve_and_pool(const Convolution& s, const T* x, const T* w, T* y, const Finish<T>& finish) {
    const Int height = s.out_h / 2, width = s.out_w / 2;
    const Int most = std::clamp<Int>(4 * panel<T> / std::max<Int>(1, 2 * s.out_w), 1, std::max<Int>(1, height));
    const Int strips = (height + most - 1) / most;  // of an image
    const RowBlocks blocks(s, max_rows, panel<T>, RowBlocks::Order::ascending);
    const Int grain = products_per_task(s.out, 2 * most * s.out_w, s.depth());
    parallel_for(s.batch * s.groups * strips, grain, [&](Int begin, Int end) {
        const Int ld = 2 * most * s.out_w;
        T* sums = scratch<T, ResultsOfThread>(s.out * ld);
        for (Int unit = begin; unit < end; ++unit) {
            const Int group = unit / strips % s.groups, image = unit / strips / s.groups;
            const Int line = unit % strips * most, lines = std::min(most, height - line);
            const Int columns = 2 * lines * s.out_w, first = image * s.pixels() + 2 * line * s.out_w;
            if (finish.bias)
                fill_with_bias(s, group, finish.bias, columns, sums, ld);
            else if (s.depth() == 0)
                std::fill_n(sums, s.out * ld, T(0));
            for (Int at = 0; at < columns; at += panel<T>)
                sum_panel(s, blocks, group, first + at, std::min(panel<T>, columns - at), x, w,
                          finish.bias ? T(1) : T(0), sums + at, ld);
            for (Int o = 0; o < s.out; ++o) {
                T* from = sums + o * ld;
                if (finish.relu) relu_in_place(columns, from);
                Int to = (((image * s.groups + group) * s.out + o) * height + line) * width;
                for (Int i = 0; i < lines; ++i, from += 2 * s.out_w, to += width)
                    largest_of_four(width, from, from + s.out_w, y + to, finish.places + to);
            }
        }
    });
}

}  // namespace

// Y = W X + bias, a panel of columns at a time.
template <class T>
void convolve(const Convolution& s, const T* x, const T* w, T beta, T* y, const Finish<T>& finish) {
    if (finish.max_pool) return convolve_and_pool(s, x, w, y, finish);
    const Int depth = s.depth(), pixels = s.pixels(), columns = s.columns();
    const T* bias = finish.bias;
    if (depth == 0) {
        for (Int plane = 0; beta == T(0) && plane < s.batch * s.groups * s.out; ++plane)
            std::fill_n(y + plane * pixels, pixels, bias ? bias[plane % (s.groups * s.out)] : T(0));
        if (finish.relu) relu_in_place(s.batch * s.groups * s.out * pixels, y);
        return;
    }
    const RowBlocks blocks(s, max_rows, panel<T>, RowBlocks::Order::ascending);
    const Int panels = (columns + panel<T> - 1) / panel<T>;
    parallel_for(s.groups * panels, products_per_task(s.out, panel<T>, depth), [&](Int begin, Int end) {
        T* results = scratch<T, ResultsOfThread>(s.out * panel<T>);
        for (Int unit = begin; unit < end; ++unit) {
            const Int group = unit / panels, first = unit % panels * panel<T>;
            const Int count = std::min(panel<T>, columns - first);
            // A panel within one image is written where it belongs, any other is taken apart afterwards.
            const bool whole = first % pixels + count <= pixels;
            T* c = whole ? y + (first / pixels * s.groups + group) * s.out * pixels + first % pixels : results;
            const Int ldc = whole ? pixels : panel<T>;
            if (bias) fill_with_bias(s, group, bias, count, c, ldc);
            sum_panel(s, blocks, group, first, count, x, w, bias ? T(1) : whole ? beta : T(0), c, ldc);
            if (finish.relu)
                for (Int o = 0; o < s.out; ++o) relu_in_place(count, c + o * ldc);
            if (whole) continue;
            each_image(s, group, first, count, [&](Int at, Int column, Int n) {
                for (Int o = 0; o < s.out; ++o) {
                    const T* from = results + o * panel<T> + column;
                    T* to = y + at + o * pixels;
                    for (Int j = 0; j < n; ++j) to[j] = beta == T(0) ? from[j] : to[j] + from[j];
                }
            });
        }
    });
}

// dX = W' dY, a panel of columns at a time. A unit of work adds to images, or channels of images, of its own.
template <class T>
void convolve_dx(const Convolution& s, const T* dy, const T* w, T beta, T* dx, Pool& pool, Panels panels) {
    const Int depth = s.depth(), pixels = s.pixels();
    if (s.out == 0) {
        if (beta == T(0)) std::fill_n(dx, s.batch * s.image(), T(0));
        return;
    }
    Tensor<T> transposed = Tensor<T>::empty(Shape{s.groups, depth, s.out}, pool);
    T* wt = transposed.fresh_data();
    for (Int group = 0; group < s.groups; ++group)
        transpose_tile<T, false>(w + group * s.out * depth, depth, wt + group * depth * s.out, s.out, depth, s.out);

    const Int images = std::clamp<Int>(products_per_task(depth, pixels, s.out), 1, std::max<Int>(1, s.batch));
    const Int parts = (s.batch + images - 1) / images;
    const bool few = parts * s.groups < many;
    const Int share = few ? s.taps() * std::max<Int>(1, s.in * parts * s.groups / many) : max_rows;
    const RowBlocks blocks(s, std::min(share, max_rows), panel<T>, RowBlocks::Order::spread);
    const Int channel_blocks = few ? 1 : blocks.channel_blocks();  // of a unit
    const Int units = channel_blocks == 0 ? 0 : blocks.channel_blocks() / channel_blocks;
    parallel_for(parts * s.groups * units, 1, [&](Int begin, Int end) {
        T* results = scratch<T, ResultsOfThread>(s.out * panel<T>);
        T* patches = scratch<T, PatchesOfThread>(blocks.rows() * panel<T>);
        for (Int unit = begin; unit < end; ++unit) {
            const Int group = unit / units % s.groups, first_block = unit % units * channel_blocks;
            const Int image = unit / units / s.groups * images, last_image = std::min(s.batch, image + images);
            const Int channel = first_block * blocks.channels();
            const Int channels = std::min(s.in - channel, channel_blocks * blocks.channels());
            if (beta == T(0))
                for (Int n = image; n < last_image; ++n)
                    std::fill_n(dx + n * s.image() + (group * s.in + channel) * s.plane(), channels * s.plane(), T(0));
            for (Int first = image * pixels, count; first < last_image * pixels; first += count) {
                const Int stop = panels == Panels::by_image ? (first / pixels + 1) * pixels : last_image * pixels;
                count = std::min(panel<T>, stop - first);
                each_image(s, group, first, count, [&](Int at, Int column, Int n) {
                    copy(s.out, n, dy + at, pixels, results + column, panel<T>);
                });
                for (Int k = first_block * blocks.cuts(); k < (first_block + channel_blocks) * blocks.cuts(); ++k) {
                    const RowBlock block = blocks(group, k / blocks.cuts(), k % blocks.cuts());
                    gemm_direct<T>({false, false, block.rows, count, s.out, T(1),
                                    wt + (group * depth + block.row) * s.out, s.out, results, panel<T>, T(0), patches,
                                    panel<T>});
                    col2im(s, block, first, count, patches, dx);
                }
            }
        }
    });
}

#define POLLEN_INSTANTIATE_CONVOLVE(T)                                                       \
    template void convolve(const Convolution&, const T*, const T*, T, T*, const Finish<T>&); \
    template void convolve_dx(const Convolution&, const T*, const T*, T, T*, Pool&, Panels);
POLLEN_INSTANTIATE_CONVOLVE(float)
POLLEN_INSTANTIATE_CONVOLVE(double)
#undef POLLEN_INSTANTIATE_CONVOLVE

}  // namespace pollen::kernels
