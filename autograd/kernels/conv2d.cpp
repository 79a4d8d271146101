#include <pollen/autograd/kernels/conv2d.hpp>

#include <pollen/autograd/kernels/gemm_direct.hpp>
#include <pollen/autograd/kernels/registers.hpp>
#include <pollen/autograd/kernels/scratch.hpp>
#include <pollen/autograd/kernels/transpose_tile.hpp>
#include <pollen/autograd/parallel.hpp>

#include <algorithm>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

// The columns that gemm_direct takes at a time.
template <class T>
constexpr Int panel = 3 * lanes<T>;

constexpr double flops_per_task = 2e6;
constexpr Int max_rows = 256;      // of a block of patches, unless one channel has more
constexpr Int max_columns = 128;   // that a gradient of w is summed over at a time
constexpr Int max_parts = 8;       // of the sum that is a gradient of w
constexpr Int many = 16;           // units of work that keep all threads busy
constexpr Int max_partials = 1 << 20;

Int round_up(Int n, Int multiple) { return (n + multiple - 1) / multiple * multiple; }

// How many units of work make a task.
Int grain(Int m, Int n, Int k) {
    const double flops = 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    return std::max<Int>(1, static_cast<Int>(flops_per_task / (flops + 1000)));
}

// The channels of a group are cut into blocks of the same size, but for the last.
Int channels_per_block(const Convolution& s) {
    const Int most = std::max<Int>(1, max_rows / s.taps()), blocks = (s.in + most - 1) / most;
    return blocks == 0 ? 1 : (s.in + blocks - 1) / blocks;
}

// The rows of a block of that many channels, and of the last one.
class Rows {
  public:
    Rows(const Convolution& s, Int channels) : channels_(channels) {
        PatchRow* rows = scratch<PatchRow, Rows>(2 * channels * s.taps());
        patch_rows(s, channels, rows);
        patch_rows(s, s.in % channels, rows + channels * s.taps());
        full_ = rows;
        last_ = rows + channels * s.taps();
    }
    const PatchRow* operator()(Int channels) const { return channels == channels_ ? full_ : last_; }

  private:
    Int channels_;
    const PatchRow *full_, *last_;
};

// Y and dY are cut at other columns than images begin: f(where in y, which column of the block, how many).
template <class F>
void each_image(const Convolution& s, Int group, Int column, Int columns, const F& f) {
    const Int pixels = s.pixels();
    Int image = column / pixels, first = column % pixels;
    for (Int done = 0; done < columns; ++image, first = 0) {
        const Int count = std::min(pixels - first, columns - done);
        f((image * s.groups + group) * s.out * pixels + first, done, count);
        done += count;
    }
}

// to(i, j) = from(i, j)
template <class T>
void copy(Int rows, Int columns, const T* from, Int ld_from, T* to, Int ld_to) {
    constexpr Int W = lanes<T>;
    Int j = 0;
    for (; j + W <= columns; j += W)
        for (Int i = 0; i < rows; ++i)
            Batch<T>::load_unaligned(from + i * ld_from + j).store_unaligned(to + i * ld_to + j);
    for (; j < columns; ++j)
        for (Int i = 0; i < rows; ++i) to[i * ld_to + j] = from[i * ld_from + j];
}

}  // namespace

template <class T>
void convolve(const Convolution& s, const T* x, const T* w, T beta, T* y) {
    const Int taps = s.taps(), depth = s.in * taps, pixels = s.pixels(), columns = s.batch * pixels;
    const Int channels = channels_per_block(s);
    const Int panels = (columns + panel<T> - 1) / panel<T>;
    parallel_for(s.groups * panels, grain(s.out, panel<T>, depth), [&](Int begin, Int end) {
        const Rows rows(s, channels);
        T* patches = scratch<T, struct Patches>(channels * taps * panel<T>);
        T* results = scratch<T, struct Results>(s.out * panel<T>);
        for (Int unit = begin; unit < end; ++unit) {
            const Int group = unit / panels, first = unit % panels * panel<T>;
            const Int count = std::min(panel<T>, columns - first);
            // Panels within one image are written where they belong, others are taken apart afterwards.
            const bool whole = first % pixels + count <= pixels;
            T* c = results;
            if (whole) c = y + (first / pixels * s.groups + group) * s.out * pixels + first % pixels;
            const Int ldc = whole ? pixels : panel<T>;
            for (Int channel = 0; channel < s.in; channel += channels) {
                const Int some = std::min(channels, s.in - channel);
                im2col(s, {group * s.in + channel, some, first, count}, rows(some), x, patches, panel<T>);
                gemm_direct(false, false, s.out, count, some * taps, T(1), w + group * s.out * depth + channel * taps,
                            depth, patches, panel<T>, channel > 0 ? T(1) : whole ? beta : T(0), c, ldc);
            }
            if (whole) continue;
            each_image(s, group, first, count, [&](Int at, Int from, Int n) {
                for (Int o = 0; o < s.out; ++o)
                    for (Int j = 0; j < n; ++j) {
                        T& out = y[at + o * pixels + j];
                        out = results[o * panel<T> + from + j] + (beta == T(0) ? T(0) : out);
                    }
            });
        }
    });
}

template <class T>
void convolve_dx(const Convolution& s, const T* dy, const T* w, T beta, T* dx) {
    const Int taps = s.taps(), depth = s.in * taps, pixels = s.pixels();
    T* transposed = scratch<T, struct Transposed>(s.groups * s.out * depth);
    for (Int group = 0; group < s.groups; ++group)
        transpose_tile<T, false>(w + group * s.out * depth, depth, transposed + group * s.out * depth, s.out, depth, s.out);

    // A unit adds to its own channels of its own images, panel after panel.
    const Int channels = channels_per_block(s);
    const Int images = std::clamp<Int>(grain(depth, pixels, s.out), 1, std::max<Int>(1, s.batch));
    const Int parts = (s.batch + images - 1) / images;
    const Int channels_per_unit = parts * s.groups < many ? channels : s.in;
    const Int blocks = (s.in + channels_per_unit - 1) / std::max<Int>(1, channels_per_unit);
    parallel_for(parts * s.groups * blocks, 1, [&](Int begin, Int end) {
        const Rows rows(s, channels);
        T* results = scratch<T, struct Results>(s.out * panel<T>);
        T* patches = scratch<T, struct Patches>(channels * taps * panel<T>);
        for (Int unit = begin; unit < end; ++unit) {
            const Int group = unit / blocks % s.groups;
            const Int channel_begin = unit % blocks * channels_per_unit;
            const Int channel_end = std::min(s.in, channel_begin + channels_per_unit);
            const Int image = unit / blocks / s.groups * images, last_image = std::min(s.batch, image + images);
            if (beta == T(0))
                for (Int n = image; n < last_image; ++n)
                    std::fill_n(dx + n * s.image() + (group * s.in + channel_begin) * s.plane(),
                                (channel_end - channel_begin) * s.plane(), T(0));
            for (Int first = image * pixels; first < last_image * pixels; first += panel<T>) {
                const Int count = std::min(panel<T>, last_image * pixels - first);
                each_image(s, group, first, count, [&](Int at, Int to, Int n) {
                    copy(s.out, n, dy + at, pixels, results + to, panel<T>);
                });
                for (Int channel = channel_begin; channel < channel_end; channel += channels) {
                    const Int some = std::min(channels, channel_end - channel);
                    gemm_direct(false, false, some * taps, count, s.out, T(1),
                                transposed + (group * depth + channel * taps) * s.out, s.out, results, panel<T>, T(0),
                                patches, panel<T>);
                    col2im(s, {group * s.in + channel, some, first, count}, rows(some), patches, panel<T>, dx);
                }
            }
        }
    });
}

template <class T>
void convolve_dw(const Convolution& s, const T* x, const T* dy, T beta, T* dw) {
    const Int taps = s.taps(), depth = s.in * taps, pixels = s.pixels(), columns = s.batch * pixels;
    const Int channels = channels_per_block(s);
    const Int width = round_up(s.out, lanes<T>);  // of dW' with its rows filled up
    const Int panels = std::max<Int>(1, (width + panel<T> - 1) / panel<T>);
    const Int panel_width = round_up((width + panels - 1) / panels, lanes<T>);

    // The sum over all columns is cut into parts that are summed by themselves first.
    const Int size = s.groups * depth * width;
    const Int most = std::clamp<Int>(max_partials / std::max<Int>(1, size), 1, max_parts);
    const Int part = round_up(std::max<Int>(1, (columns + most - 1) / most), max_columns);
    const Int parts = std::max<Int>(1, (columns + part - 1) / part);
    const Int blocks = parts < max_parts ? (s.in + channels - 1) / channels : 1;
    const Int channels_per_unit = blocks == 1 ? s.in : channels;
    T* partials = scratch<T, struct Partials>(parts * size);

    parallel_for(parts * s.groups * blocks, 1, [&](Int begin, Int end) {
        constexpr Int ld = max_columns + 16;
        const Rows rows(s, channels);
        T* patches = scratch<T, struct Patches>(channels * taps * ld);
        T* results = scratch<T, struct Results>(max_columns * panels * panel_width);
        for (Int unit = begin; unit < end; ++unit) {
            const Int group = unit / blocks % s.groups, p = unit / blocks / s.groups;
            const Int channel_begin = unit % blocks * channels_per_unit;
            const Int channel_end = std::min(s.in, channel_begin + channels_per_unit);
            T* sum = partials + p * size + group * depth * width;
            const Int last = std::min(columns, (p + 1) * part);
            if (p * part >= last) std::fill_n(sum, depth * width, T(0));
            for (Int first = p * part; first < last; first += max_columns) {
                const Int count = std::min(max_columns, last - first);
                // dY', in panels of columns
                for (Int o = 0; o < s.out; o += panel_width) {
                    T* to = results + o * max_columns;
                    const Int some = std::min(panel_width, s.out - o);
                    if (some % lanes<T> != 0) std::fill_n(to, count * panel_width, T(0));
                    each_image(s, group, first, count, [&](Int at, Int j, Int n) {
                        transpose_tile<T, false>(dy + at + o * pixels, pixels, to + j * panel_width, panel_width, n, some);
                    });
                }
                for (Int channel = channel_begin; channel < channel_end; channel += channels) {
                    const Int some = std::min(channels, channel_end - channel);
                    im2col(s, {group * s.in + channel, some, first, count}, rows(some), x, patches, ld);
                    for (Int o = 0; o < width; o += panel_width)
                        gemm_direct(false, false, some * taps, std::min(panel_width, width - o), count, T(1), patches, ld,
                                    results + o * max_columns, panel_width, first == p * part ? T(0) : T(1),
                                    sum + channel * taps * width + o, width);
                }
            }
        }
    });

    // dW = the sum of the parts, transposed
    parallel_for(s.groups * depth, std::max<Int>(1, 16384 / width), [&](Int begin, Int end) {
        for (Int p = 1; p < parts; ++p) {
            const T* from = partials + p * size;
            for (Int i = begin * width; i < end * width; ++i) partials[i] += from[i];
        }
        for (Int r = begin; r < end; ++r) {
            const Int group = r / depth, row = r % depth;
            for (Int o = 0; o < s.out; ++o) {
                T& to = dw[(group * s.out + o) * depth + row];
                to = partials[r * width + o] + (beta == T(0) ? T(0) : to);
            }
        }
    });
}

#define POLLEN_INSTANTIATE_CONVOLVE(T)                                          \
    template void convolve(const Convolution&, const T*, const T*, T, T*);    \
    template void convolve_dx(const Convolution&, const T*, const T*, T, T*); \
    template void convolve_dw(const Convolution&, const T*, const T*, T, T*);
POLLEN_INSTANTIATE_CONVOLVE(float)
POLLEN_INSTANTIATE_CONVOLVE(double)
#undef POLLEN_INSTANTIATE_CONVOLVE

}  // namespace pollen::kernels
