#include <pollen/autograd/kernels/depthwise.hpp>

#include <pollen/autograd/detail/scratch.hpp>
#include <pollen/autograd/kernels/conv2d_blocks.hpp>
#include <pollen/autograd/kernels/lanes.hpp>
#include <pollen/autograd/kernels/rounding.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/tensor.hpp>

namespace pollen::kernels {

namespace {

using Int = std::int64_t;

constexpr Int pixels_of_part = 8192;  // whose products are added up before lanes are
constexpr Int sums_at_once = 256;     // whose lanes stay in the first-level cache

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

// The images are cut into parts, whose sums are added in their order. A unit of work is a part of some channels, whose
// planes are neighbours in memory.
template <class T>
void depthwise_dw(const Depthwise& d, const T* x, const T* dy, T beta, T* dw, Pool& pool) {
    const Convolution& s = d.sizes;
    const ShiftedPlanes planes = planes_of_y(d, sizeof(T));
    const Int images = std::max<Int>(1, pixels_of_part / std::max<Int>(1, s.pixels()));
    const Int of_group = s.out * s.depth(), size = s.groups * of_group;
    const Int neighbours = std::clamp<Int>(sums_at_once / std::max<Int>(1, of_group), 1, 16);
    const Int shares = (s.batch + images - 1) / images, blocks = (s.groups + neighbours - 1) / neighbours;
    Tensor<T> memory = Tensor<T>::empty(Shape{shares, size}, pool);
    T* partials = memory.fresh_data();
    const Int grain = products_per_task(neighbours * s.out, s.pixels() * std::min(images, s.batch), s.depth());
    parallel_for(shares * blocks, grain, [&](Int begin, Int end) {
        T* room = scratch<T, PatchesOfThread>(planes.room());
        T* sums = scratch<T, SumsOfThread>(neighbours * of_group * sum_lanes<T>);
        std::fill_n(room, planes.room(), T(0));
        for (Int unit = begin; unit < end; ++unit) {
            const Int part = unit / blocks, first = unit % blocks * neighbours;
            const Int last = std::min(s.groups, first + neighbours);
            std::fill_n(sums, (last - first) * of_group * sum_lanes<T>, T(0));
            for (Int n = part * images; n < std::min(s.batch, (part + 1) * images); ++n)
                for (Int group = first; group < last; ++group)
                    for (Int strip = 0; strip < planes.strips(); ++strip) {
                        const Int at = (n * s.groups + group) * s.out * s.pixels() + strip * planes.lines() * s.out_w;
                        planes.copy(x + (n * s.groups + group) * s.in * d.plane(), strip, room);
                        for (Int o = 0; o < s.out; ++o)
                            add_products(planes, room, dy + at + o * s.pixels(), planes.lines_of(strip) * s.out_w,
                                         sums + ((group - first) * s.out + o) * s.depth() * sum_lanes<T>);
                    }
            T* to = partials + part * size + first * of_group;
            for (Int i = 0; i < (last - first) * of_group; ++i) {
                const Int t = i % s.depth();
                to[i - t + planes.begin()[t].weight] = sum_of(
                    lanes_of<T>([&](Int p) { return Batch<T>::load_aligned(sums + i * sum_lanes<T> + p * lanes<T>); }));
            }
        }
    });
    for (Int i = 0; i < size; ++i) {
        T sum = T(0);
        for (Int part = 0; part < shares; ++part) sum += partials[part * size + i];
        dw[i] = beta == T(0) ? sum : dw[i] + sum;
    }
}

template void depthwise_dw(const Depthwise&, const float*, const float*, float, float*, Pool&);
template void depthwise_dw(const Depthwise&, const double*, const double*, double, double*, Pool&);

}  // namespace pollen::kernels
