#include <pollen/autograd/kernels/depthwise.hpp>

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/conv2d_blocks.hpp>
#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/kernels/rounding.hpp>
#include <pollen/autograd/kernels/shifted_planes.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/tensor.hpp>

#include <new>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

// The planes that a result is read from, with tables in the calling thread's scratch memory.
template <class T>
ShiftedPlanes planes_of_y(const Depthwise& d) {
    const Convolution& s = d.sizes;
    return {axis_of_y(s.out_h, d.height(), s.kernel_h, s.stride_h, s.dilation_h, d.pad_h),
            axis_of_y(s.out_w, d.width(), s.kernel_w, s.stride_w, s.dilation_w, d.pad_w),
            s.in,
            s.taps(),
            sizeof(T),
            scratch<ShiftedTap, Depthwise>(s.depth()),
            scratch<ShiftedBand, Depthwise>(s.taps())};
}

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

// dX is made in as many phases as there are pixels in a step.
bool depthwise_use(const Convolution& s) {
    return s.groups > 1 && s.in == 1 && s.out <= 8 && s.stride_h <= 4 && s.stride_w <= 4;
}

template <class T>
void depthwise_y(const Depthwise& d, const T* x, const T* w, const Finish<T>& finish, T* y) {
    const Convolution& s = d.sizes;
    const ShiftedPlanes planes = planes_of_y<T>(d);
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
                    const T* kernels = w + unit % s.groups * s.out * s.depth();
                    const SumOverTaps<T> sum{p->planes, room, kernels, T(0), whole && add, false};
                    const Int lines = p->planes.lines_of(strip), width = p->planes.width();
                    const Int row = strip * p->planes.lines() * s.stride_h + p->row;
                    T* to = dx + unit * d.plane() + row * d.width() + p->column;
                    sum(lines * width, whole ? to : sums);
                    if (!whole) spread(lines, width, sums, add, to, s.stride_h * d.width(), s.stride_w);
                }
        }
    });
}

namespace {

constexpr Int pixels_of_part = 8192;  // whose products are added up before lanes are

// sums[t] += the products of n numbers of g with those that tap t reads, lane by lane.
template <int taps, class T>
POLLEN_INLINE inline void add_products(const ShiftedTap* tap, const T* room, const T* g, Int n, T* sums) {
    Lanes<T> sum[taps];
    const T* from[taps];
    unroll<taps>([&](auto t) POLLEN_INLINE {
        from[t] = room + tap[t].at;
        each_part<T>([&](std::size_t p) POLLEN_INLINE {
            sum[t].part[p] = Batch<T>::load_aligned(sums + t * sum_lanes<T> + p * Batch<T>::size);
        });
    });
    const Int whole = n / sum_lanes<T> * sum_lanes<T>;
    for (Int k = 0; k < whole; k += sum_lanes<T>)
        each_part<T>([&](std::size_t p) POLLEN_INLINE {
            const Int at = k + static_cast<Int>(p) * lanes<T>;
            const Batch<T> factor = Batch<T>::load_unaligned(g + at);
            unroll<taps>([&](auto t) POLLEN_INLINE {
                sum[t].part[p] = multiply_add(Batch<T>::load_unaligned(from[t] + at), factor, sum[t].part[p]);
            });
        });
    const auto rest = [](const T* from_t, Int count) { return count > 0 ? load_first(from_t, count) : Batch<T>(T(0)); };
    if (whole < n)
        each_part<T>([&](std::size_t p) POLLEN_INLINE {
            const Int at = whole + static_cast<Int>(p) * lanes<T>, count = std::min(lanes<T>, n - at);
            const Batch<T> factor = rest(g + at, count);
            unroll<taps>([&](auto t) POLLEN_INLINE {
                sum[t].part[p] = multiply_add(rest(from[t] + at, count), factor, sum[t].part[p]);
            });
        });
    unroll<taps>([&](auto t) POLLEN_INLINE {
        each_part<T>([&](std::size_t p)
                         POLLEN_INLINE { sum[t].part[p].store_aligned(sums + t * sum_lanes<T> + p * Batch<T>::size); });
    });
}

template <class T>
void add_products(const ShiftedPlanes& planes, const T* room, const T* g, Int n, T* sums) {
    constexpr int few = parts<T> == 1 ? 9 : 3;
    Int t = 0;
    for (; t + few <= planes.taps(); t += few)
        add_products<few>(planes.begin() + t, room, g, n, sums + t * sum_lanes<T>);
    if (few > 3)
        for (; t + 3 <= planes.taps(); t += 3) add_products<3>(planes.begin() + t, room, g, n, sums + t * sum_lanes<T>);
    for (; t < planes.taps(); ++t) add_products<1>(planes.begin() + t, room, g, n, sums + t * sum_lanes<T>);
}

struct SumsOfThread;

}  // namespace

// The images are cut into parts, whose sums are added in their order.
template <class T>
void depthwise_dw(const Depthwise& d, const T* x, const T* dy, T beta, T* dw, Pool& pool) {
    const Convolution& s = d.sizes;
    const ShiftedPlanes planes = planes_of_y<T>(d);
    const Int images = std::max<Int>(1, pixels_of_part / std::max<Int>(1, s.pixels()));
    const Int shares = (s.batch + images - 1) / images, size = s.groups * s.out * s.depth();
    Tensor<T> memory = Tensor<T>::empty(Shape{shares, size}, pool);
    T* partials = memory.fresh_data();
    const Int grain = products_per_task(s.out, s.pixels() * std::min(images, s.batch), s.depth());
    parallel_for(shares * s.groups, grain, [&](Int begin, Int end) {
        T* room = scratch<T, PatchesOfThread>(planes.room());
        T* sums = scratch<T, SumsOfThread>(s.out * s.depth() * sum_lanes<T>);
        std::fill_n(room, planes.room(), T(0));
        for (Int unit = begin; unit < end; ++unit) {
            const Int part = unit / s.groups, group = unit % s.groups;
            std::fill_n(sums, s.out * s.depth() * sum_lanes<T>, T(0));
            for (Int n = part * images; n < std::min(s.batch, (part + 1) * images); ++n)
                for (Int strip = 0; strip < planes.strips(); ++strip) {
                    planes.copy(x + (n * s.groups + group) * s.in * d.plane(), strip, room);
                    const T* g = dy + (n * s.groups + group) * s.out * s.pixels() + strip * planes.lines() * s.out_w;
                    for (Int o = 0; o < s.out; ++o)
                        add_products(planes, room, g + o * s.pixels(), planes.lines_of(strip) * s.out_w,
                                     sums + o * s.depth() * sum_lanes<T>);
                }
            T* to = partials + part * size + group * s.out * s.depth();
            for (Int o = 0; o < s.out; ++o)
                for (Int t = 0; t < s.depth(); ++t) {
                    const T* from = sums + (o * s.depth() + t) * sum_lanes<T>;
                    to[o * s.depth() + planes.begin()[t].weight] =
                        sum_of(lanes_of<T>([&](Int p) { return Batch<T>::load_aligned(from + p * lanes<T>); }));
                }
        }
    });
    for (Int i = 0; i < size; ++i) {
        T sum = T(0);
        for (Int part = 0; part < shares; ++part) sum += partials[part * size + i];
        dw[i] = beta == T(0) ? sum : dw[i] + sum;
    }
}

#define POLLEN_INSTANTIATE_DEPTHWISE(T)                                                    \
    template void depthwise_y(const Depthwise&, const T*, const T*, const Finish<T>&, T*); \
    template void depthwise_dx(const Depthwise&, const T*, const T*, T, T*);               \
    template void depthwise_dw(const Depthwise&, const T*, const T*, T, T*, Pool&);
POLLEN_INSTANTIATE_DEPTHWISE(float)
POLLEN_INSTANTIATE_DEPTHWISE(double)
#undef POLLEN_INSTANTIATE_DEPTHWISE

}  // namespace pollen::kernels
