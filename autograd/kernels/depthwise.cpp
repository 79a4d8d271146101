#include <pollen/autograd/kernels/depthwise.hpp>

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/conv2d_blocks.hpp>
#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/kernels/rounding.hpp>
#include <pollen/autograd/parallel.hpp>

#include <new>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

constexpr Int most_channels = 8;  // of a group: products of matrices with more rows are faster

// Sums over the taps, one chain of fused multiply-adds for each result: from `start` on, or from what is there.
template <class T>
struct SumOverTaps {
    const ShiftedPlanes& planes;
    const T *room, *w;
    T start;
    bool add, relu;

    template <int vectors>
    POLLEN_INLINE void few(Int k, Int count, T* y) const {
        Batch<T> sum[vectors];
        unroll<vectors>([&](auto v) POLLEN_INLINE {
            if (!add)
                sum[v] = Batch<T>(start);
            else if (count >= lanes<T>)
                sum[v] = Batch<T>::load_unaligned(y + k + v * lanes<T>);
            else
                sum[v] = load_first(y + k, count);
        });
        for (const ShiftedTap* tap = planes.begin(); tap < planes.end(); ++tap) {
            const Batch<T> weight(w[tap->weight]);
            const T* from = room + tap->at + k;
            unroll<vectors>([&](auto v) POLLEN_INLINE {
                sum[v] = multiply_add(Batch<T>::load_unaligned(from + v * lanes<T>), weight, sum[v]);
            });
        }
        unroll<vectors>([&](auto v) POLLEN_INLINE {
            if (relu) sum[v] = WhereAbove{}(sum[v]);
            if (count >= lanes<T>)
                sum[v].store_unaligned(y + k + v * lanes<T>);
            else
                store_first(y + k, sum[v], count);
        });
    }

    void operator()(Int n, T* y) const {
        Int k = 0;
        for (; k + 8 * lanes<T> <= n; k += 8 * lanes<T>) few<8>(k, lanes<T>, y);
        if (k + 4 * lanes<T> <= n) few<4>(k, lanes<T>, y), k += 4 * lanes<T>;
        if (k + 2 * lanes<T> <= n) few<2>(k, lanes<T>, y), k += 2 * lanes<T>;
        for (; k < n; k += lanes<T>) few<1>(k, n - k, y);
    }
};

template <class T>
void pool_lines(Int lines, Int width, const T* from, T* y, std::uint8_t* places) {
    for (Int i = 0; i < lines; ++i, from += 2 * width)
        largest_of_four(width / 2, from, from + width, y + i * (width / 2), places + i * (width / 2));
}

}  // namespace

ShiftedPlanes planes_of_y(const Depthwise& d, Int element_bytes) {
    const Convolution& s = d.sizes;
    return {axis_of_y(s.out_h, d.height(), s.kernel_h, s.stride_h, s.dilation_h, d.pad_h),
            axis_of_y(s.out_w, d.width(), s.kernel_w, s.stride_w, s.dilation_w, d.pad_w),
            s.in,
            s.taps(),
            element_bytes,
            scratch<ShiftedTap, Depthwise>(s.depth()),
            scratch<ShiftedBand, Depthwise>(s.taps())};
}

// dX is made in as many phases as there are pixels in a step.
bool depthwise_use(const Convolution& s) {
    const auto few = [](Int channels) { return channels > 0 && channels <= most_channels; };
    return s.groups > 1 && few(s.in) && few(s.out) && s.stride_h <= 4 && s.stride_w <= 4;
}

template <class T>
void depthwise_y(const Depthwise& d, const T* x, const T* w, const Finish<T>& finish, T* y) {
    const Convolution& s = d.sizes;
    const ShiftedPlanes planes = planes_of_y(d, sizeof(T));
    const Int pooled = (s.out_h / 2) * (s.out_w / 2);
    parallel_for(s.batch * s.groups, products_per_task(s.out, s.pixels(), s.depth()), [&](Int begin, Int end) {
        T* room = scratch<T, PatchesOfThread>(planes.room());
        T* sums = finish.max_pool ? scratch<T, ResultsOfThread>(planes.lines() * s.out_w) : nullptr;
        std::fill_n(room, planes.room(), T(0));
        for (Int unit = begin; unit < end; ++unit)
            for (Int strip = 0; strip < planes.strips(); ++strip) {
                planes.copy(x + unit * s.in * d.plane(), strip, room);
                const Int line = strip * planes.lines(), lines = planes.lines_of(strip);
                for (Int o = 0; o < s.out; ++o) {
                    const Int channel = unit % s.groups * s.out + o;
                    const SumOverTaps<T> sum{
                        planes, room,       w + channel * s.depth(), finish.bias ? finish.bias[channel] : T(0),
                        false,  finish.relu};
                    if (!finish.max_pool) {
                        sum(lines * s.out_w, y + (unit * s.out + o) * s.pixels() + line * s.out_w);
                        continue;
                    }
                    const Int to = (unit * s.out + o) * pooled + line / 2 * (s.out_w / 2);
                    sum(lines * s.out_w, sums);
                    pool_lines(lines / 2, s.out_w, sums, y + to, finish.places + to);
                }
            }
    });
}

namespace {

// The pixels of dX that have the same remainder by the strides read the same taps; each tap belongs to one such phase.
struct Phase {
    Int row, column;
    ShiftedPlanes planes;
};

template <class T>
struct Phases {
    Phase* all;
    Int count = 0, room = 0, results = 0;

    explicit Phases(const Depthwise& d) {
        const Convolution& s = d.sizes;
        const Int rows = std::min(s.stride_h, d.height()), columns = std::min(s.stride_w, d.width());
        all = scratch<Phase, Depthwise>(rows * columns);
        ShiftedTap* taps = scratch<ShiftedTap, Depthwise>(s.out * s.taps());
        ShiftedBand* bands = scratch<ShiftedBand, Depthwise>(s.taps());
        for (Int a = 0; a < rows; ++a)
            for (Int b = 0; b < columns; ++b) {
                const ShiftedPlanes planes(
                    axis_of_dx(s.out_h, d.height(), s.kernel_h, s.stride_h, s.dilation_h, d.pad_h, a),
                    axis_of_dx(s.out_w, d.width(), s.kernel_w, s.stride_w, s.dilation_w, d.pad_w, b), s.out, s.depth(),
                    sizeof(T), taps, bands);
                taps += planes.taps();
                bands += planes.taps() / std::max<Int>(1, s.out);
                new (all + count++) Phase{a, b, planes};
                room += planes.room();
                results = std::max(results, planes.lines() * planes.width());
            }
    }
};

// Puts lines of results where the phase has its pixels.
template <class T>
void spread(Int lines, Int width, const T* from, bool add, T* to, Int step_h, Int step_w) {
    for (Int i = 0; i < lines; ++i, from += width, to += step_h)
        if (add)
            for (Int j = 0; j < width; ++j) to[j * step_w] += from[j];
        else
            for (Int j = 0; j < width; ++j) to[j * step_w] = from[j];
}

}  // namespace

template <class T>
void depthwise_dx(const Depthwise& d, const T* dy, const T* w, T beta, T* dx) {
    const Convolution& s = d.sizes;
    const Phases<T> phases(d);
    const bool whole = s.stride_h == 1 && s.stride_w == 1, add = beta != T(0);
    parallel_for(s.batch * s.groups, products_per_task(s.depth(), s.pixels(), s.out), [&](Int begin, Int end) {
        T* rooms = scratch<T, PatchesOfThread>(phases.room);
        T* sums = whole ? nullptr : scratch<T, ResultsOfThread>(phases.results);
        std::fill_n(rooms, phases.room, T(0));
        for (Int unit = begin; unit < end; ++unit) {
            T* room = rooms;
            for (const Phase* p = phases.all; p < phases.all + phases.count; room += p++->planes.room())
                for (Int strip = 0; strip < p->planes.strips(); ++strip) {
                    p->planes.copy(dy + unit * s.out * s.pixels(), strip, room);
                    const Int lines = p->planes.lines_of(strip), width = p->planes.width();
                    const Int row = strip * p->planes.lines() * s.stride_h + p->row;
                    for (Int c = 0; c < s.in; ++c) {
                        const T* kernels = w + unit % s.groups * s.out * s.depth() + c * s.taps();
                        const SumOverTaps<T> sum{p->planes, room, kernels, T(0), whole && add, false};
                        T* to = dx + (unit * s.in + c) * d.plane() + row * d.width() + p->column;
                        sum(lines * width, whole ? to : sums);
                        if (!whole) spread(lines, width, sums, add, to, s.stride_h * d.width(), s.stride_w);
                    }
                }
        }
    });
}

#define POLLEN_INSTANTIATE_DEPTHWISE(T)                                                    \
    template void depthwise_y(const Depthwise&, const T*, const T*, const Finish<T>&, T*); \
    template void depthwise_dx(const Depthwise&, const T*, const T*, T, T*);
POLLEN_INSTANTIATE_DEPTHWISE(float)
POLLEN_INSTANTIATE_DEPTHWISE(double)
#undef POLLEN_INSTANTIATE_DEPTHWISE

}  // namespace pollen::kernels
