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

constexpr Int max_columns = 192;       // that are summed over at a time
constexpr Int ld = max_columns + 16;   // of a block of patches; a power of two would crowd few lines of the cache
constexpr Int max_parts = 8;           // of the sum over all columns
constexpr Int max_partials = 1 << 20;  // elements of all partial sums, unless w alone has more

Int round_up(Int n, Int multiple) { return (n + multiple - 1) / multiple * multiple; }

// dY', in panels one after another, its last columns filled up with zeros.
template <class T>
void transpose_results(const Convolution& s, Int group, Int first, Int count, Int width, const T* dy, T* to) {
    for (Int o = 0; o < s.out; o += width, to += max_columns * width) {
        const Int some = std::min(width, s.out - o);
        if (some < width) std::fill_n(to, count * width, T(0));
        each_image(s, group, first, count, [&](Int at, Int column, Int n) {
            transpose_tile<T, false>(dy + at + o * s.pixels(), s.pixels(), to + column * width, width, n, some);
        });
    }
}

// dw = the transpose of the sum of the partial sums, which are `size` elements apart.
template <class T>
void collect(const Convolution& s, Int parts, Int size, Int ld_sum, T* partials, T beta, T* dw) {
    const Int depth = s.depth();
    parallel_for(s.groups * depth, 16384 / ld_sum + 1, [&](Int begin, Int end) {
        for (Int p = 1; p < parts; ++p) {
            const T* from = partials + p * size;
            for (Int i = begin * ld_sum; i < end * ld_sum; ++i) partials[i] += from[i];
        }
        for (Int r = begin; r < end; ++r)
            for (Int o = 0; o < s.out; ++o) {
                T& to = dw[(r / depth * s.out + o) * depth + r % depth];
                to = beta == T(0) ? partials[r * ld_sum + o] : to + partials[r * ld_sum + o];
            }
    });
}

}  // namespace

// dW' = X dY'. The sum over all columns is cut into parts; where there are few of them, units of work differ in their
// channels too.
template <class T>
void convolve_dw(const Convolution& s, const T* x, const T* dy, T beta, T* dw, Pool& pool) {
    const Int depth = s.depth(), columns = s.columns();
    if (depth == 0 || s.out == 0) return;
    if (columns == 0) {
        if (beta == T(0)) std::fill_n(dw, s.groups * s.out * depth, T(0));
        return;
    }
    const Int ld_sum = round_up(s.out, sum_lanes<T>), size = s.groups * depth * ld_sum;
    const Int panels = (ld_sum + panel<T> - 1) / panel<T>, width = round_up((ld_sum + panels - 1) / panels, lanes<T>);

    const Int most = std::clamp<Int>(max_partials / size, 1, max_parts);
    const Int part = round_up((columns + most - 1) / most, max_columns), parts = (columns + part - 1) / part;
    const RowBlocks blocks(s, max_rows, ld, RowBlocks::Order::ascending);
    const Int units = parts * s.groups < max_parts ? blocks.channel_blocks() : 1;
    const Int blocks_per_unit = blocks.channel_blocks() * blocks.cuts() / units;
    Tensor<T> sums = Tensor<T>::empty(Shape{parts, size}, pool);
    T* partials = sums.fresh_data();

    parallel_for(parts * s.groups * units, 1, [&](Int begin, Int end) {
        T* patches = scratch<T, PatchesOfThread>(blocks.rows() * ld);
        T* results = scratch<T, ResultsOfThread>(max_columns * panels * width);
        for (Int unit = begin; unit < end; ++unit) {
            const Int group = unit / units % s.groups, p = unit / units / s.groups;
            const Int first_block = unit % units * blocks_per_unit;
            T* sum = partials + p * size + group * depth * ld_sum;
            const Int last = std::min(columns, (p + 1) * part);
            for (Int first = p * part; first < last; first += max_columns) {
                const Int count = std::min(max_columns, last - first);
                transpose_results(s, group, first, count, width, dy, results);
                for (Int k = first_block; k < first_block + blocks_per_unit; ++k) {
                    const RowBlock block = blocks(group, k / blocks.cuts(), k % blocks.cuts());
                    im2col(s, block, first, count, x, patches);
                    for (Int o = 0; o < ld_sum; o += width)
                        gemm_direct<T>({false, false, block.rows, std::min(width, ld_sum - o), count, T(1), patches, ld,
                                        results + o * max_columns, width, first == p * part ? T(0) : T(1),
                                        sum + block.row * ld_sum + o, ld_sum});
                }
            }
        }
    });
    collect(s, parts, size, ld_sum, partials, beta, dw);
}

template void convolve_dw(const Convolution&, const float*, const float*, float, float*, Pool&);
template void convolve_dw(const Convolution&, const double*, const double*, double, double*, Pool&);

}  // namespace pollen::kernels
