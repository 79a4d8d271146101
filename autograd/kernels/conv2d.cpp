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

}  // namespace

// Y = W X + bias, a panel of columns at a time.
template <class T>
void convolve(const Convolution& s, const T* x, const T* w, T beta, T* y, const T* bias) {
    const Int depth = s.depth(), pixels = s.pixels(), columns = s.columns();
    if (depth == 0) {
        for (Int plane = 0; beta == T(0) && plane < s.batch * s.groups * s.out; ++plane)
            std::fill_n(y + plane * pixels, pixels, bias ? bias[plane % (s.groups * s.out)] : T(0));
        return;
    }
    const RowBlocks blocks(s, max_rows, panel<T>, RowBlocks::Order::ascending);
    const Int panels = (columns + panel<T> - 1) / panel<T>;
    parallel_for(s.groups * panels, products_per_task(s.out, panel<T>, depth), [&](Int begin, Int end) {
        T* patches = scratch<T, PatchesOfThread>(blocks.rows() * panel<T>);
        T* results = scratch<T, ResultsOfThread>(s.out * panel<T>);
        for (Int unit = begin; unit < end; ++unit) {
            const Int group = unit / panels, first = unit % panels * panel<T>;
            const Int count = std::min(panel<T>, columns - first);
            // A panel within one image is written where it belongs, any other is taken apart afterwards.
            const bool whole = first % pixels + count <= pixels;
            T* c = whole ? y + (first / pixels * s.groups + group) * s.out * pixels + first % pixels : results;
            const Int ldc = whole ? pixels : panel<T>;
            if (bias)
                for (Int o = 0; o < s.out; ++o) std::fill_n(c + o * ldc, count, bias[group * s.out + o]);
            for (Int k = 0; k < blocks.channel_blocks() * blocks.cuts(); ++k) {
                const RowBlock block = blocks(group, k / blocks.cuts(), k % blocks.cuts());
                im2col(s, block, first, count, x, patches);
                const T keep = k > 0 || bias ? T(1) : whole ? beta : T(0);
                gemm_direct<T>({false, false, s.out, count, block.rows, T(1), w + group * s.out * depth + block.row,
                                depth, patches, panel<T>, keep, c, ldc});
            }
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

#define POLLEN_INSTANTIATE_CONVOLVE(T)                                               \
    template void convolve(const Convolution&, const T*, const T*, T, T*, const T*); \
    template void convolve_dx(const Convolution&, const T*, const T*, T, T*, Pool&, Panels);
POLLEN_INSTANTIATE_CONVOLVE(float)
POLLEN_INSTANTIATE_CONVOLVE(double)
#undef POLLEN_INSTANTIATE_CONVOLVE

}  // namespace pollen::kernels
