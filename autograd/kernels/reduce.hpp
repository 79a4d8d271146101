#pragma once

#include <pollen/autograd/kernels/lanes.hpp>
#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/shape.hpp>

#include <algorithm>
#include <concepts>
#include <limits>

// Reductions over any axes. Long sums are cut into chunks whose bounds depend on the shape alone, each chunk is summed
// on its own, and the partial sums are summed in the same way: the same bits at any number of threads, and a rounding
// error that hardly grows with the length.
namespace pollen::kernels {

struct Sum {
    template <class V>
    static V combine(const V& a, const V& b) {
        return a + b;
    }
    template <class T>
    static T combine_lanes(const Lanes<T>& x) {
        return sum_of(x);
    }
    template <class T>
    static constexpr T identity = T(0);
};

// NaN wins, as in NumPy.
struct Max {
    template <class T>
    static Batch<T> combine(const Batch<T>& a, const Batch<T>& b) {
        return xsimd::select(a > b || xsimd::isnan(a), a, b);
    }
    template <std::floating_point T>
    static T combine(T a, T b) {
        return ((a > b) | (a != a)) ? a : b;
    }
    template <class T>
    static T combine_lanes(const Lanes<T>& x) {
        return tree<Max>(x);
    }
    template <class T>
    static constexpr T identity = -std::numeric_limits<T>::infinity();
};

struct Min {
    template <class T>
    static Batch<T> combine(const Batch<T>& a, const Batch<T>& b) {
        return xsimd::select(a < b || xsimd::isnan(a), a, b);
    }
    template <std::floating_point T>
    static T combine(T a, T b) {
        return ((a < b) | (a != a)) ? a : b;
    }
    template <class T>
    static T combine_lanes(const Lanes<T>& x) {
        return tree<Min>(x);
    }
    template <class T>
    static constexpr T identity = std::numeric_limits<T>::infinity();
};

// f(x) = x. A named type, because a lambda here would make reduce_all a new template at each level of its recursion.
struct Keep {
    template <class V>
    V operator()(const V& x) const {
        return x;
    }
};

template <class Op, class T>
POLLEN_INLINE inline Lanes<T> combined(const Lanes<T>& a, const Lanes<T>& b) {
    Lanes<T> out;
    each_part<T>([&](std::size_t p) POLLEN_INLINE { out.part[p] = Op::combine(a.part[p], b.part[p]); });
    return out;
}

// Op over f(in[0]...), ..., f(in[n - 1]...), on this thread; n at least 1. Four accumulators hide the latency, and
// every 16 rounds they are emptied into a fifth: numbers are added to others of about their size, so little is rounded
// away.
template <class Op, class T, class F, class... In>
inline T reduce_serial(std::int64_t n, const F& f, const In&... in) {
    constexpr std::int64_t width = sum_lanes<T>;
    const Batch<T> identity(Op::template identity<T>);
    if (n < width)
        return Op::combine_lanes(lanes_of<T>([&](std::int64_t p) {
            const std::int64_t count = first_in_part<T>(n, p);
            return count == 0 ? identity : first_lanes<Op>(count, Batch<T>(f(in.load_part(p * lanes<T>, count)...)));
        }));
    const auto at = [&](std::int64_t i) POLLEN_INLINE {
        return lanes_of<T>([&](std::int64_t p) POLLEN_INLINE { return Batch<T>(f(in.load(i + p * lanes<T>)...)); });
    };
    Lanes<T> total(Op::template identity<T>);
    std::int64_t i = 0;
    while (i + 4 * width <= n) {
        Lanes<T> a0 = at(i), a1 = at(i + width), a2 = at(i + 2 * width), a3 = at(i + 3 * width);
        const std::int64_t end = std::min(n, i + 64 * width) - 4 * width;
        for (i += 4 * width; i <= end; i += 4 * width) {
            a0 = combined<Op>(a0, at(i));
            a1 = combined<Op>(a1, at(i + width));
            a2 = combined<Op>(a2, at(i + 2 * width));
            a3 = combined<Op>(a3, at(i + 3 * width));
        }
        total = combined<Op>(total, combined<Op>(combined<Op>(a0, a1), combined<Op>(a2, a3)));
    }
    for (; i + width <= n; i += width) total = combined<Op>(total, at(i));
    if (i < n)
        total = combined<Op>(total, lanes_of<T>([&](std::int64_t p) {
                                 const std::int64_t count = last_in_part<T>(n - i, p);
                                 if (count == 0) return identity;
                                 return last_lanes<Op>(count, Batch<T>(f(in.load(n - width + p * lanes<T>)...)));
                             }));
    return Op::combine_lanes(total);
}

// The same for plain numbers: the few of a short row are quicker one by one.
template <class Op, class T>
inline T reduce_serial(std::int64_t n, const Keep& f, const Stream<T>& in) {
    if (n >= sum_lanes<T>) return reduce_serial<Op, T, Keep, Stream<T>>(n, f, in);
    T result = in.data[0];
    for (std::int64_t i = 1; i < n; ++i) result = Op::combine(result, in.data[i]);
    return result;
}

// Elements in one chunk of a reduction, and in one task of a parallel one.
inline constexpr std::int64_t reduce_chunk = 16384;
inline constexpr std::int64_t reduce_grain = 2 * reduce_chunk;

// Op over all of f(in[i]...), i < n, in parallel; the identity where n is 0.
template <class Op, class T, class F, class... In>
T reduce_all(std::int64_t n, const F& f, const In&... in) {
    if (n == 0) return Op::template identity<T>;
    if (n <= reduce_chunk) return reduce_serial<Op, T>(n, f, in...);
    const std::int64_t chunks = (n + reduce_chunk - 1) / reduce_chunk;
    Tensor<T> partial = Tensor<T>::empty(Shape{chunks});
    T* out = partial.fresh_data();
    parallel_for(chunks, reduce_grain / reduce_chunk, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t c = begin; c < end; ++c) {
            const std::int64_t first = c * reduce_chunk;
            out[c] = reduce_serial<Op, T>(std::min(reduce_chunk, n - first), f, in.from(first)...);
        }
    });
    return reduce_all<Op, T>(chunks, Keep{}, Stream<T>{out});
}

// out = Op over the axes of `mask` of x, out in the shape left. Instantiated for Sum, Max and Min.
template <class Op, class T>
void reduce_axes(const T* x, const Shape& shape, unsigned mask, T* out);

// out (of shape `to`) = or += x (of shape `from`) summed over the axes along which `to` broadcasts to `from`: how the
// gradient of a broadcast operand is collected.
template <class T>
void sum_to(const T* x, const Shape& from, const GradientSlot<T>& out, const Shape& to);

}  // namespace pollen::kernels
