#pragma once

#include <pollen/autograd/kernels/registers.hpp>
#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/tape.hpp>

#include <algorithm>
#include <cstdint>

// Elementwise loops: out[i] = f(a[i], b[i], ...), vectorised by xsimd and cut into blocks for oneTBB.
//
// f is a generic callable on batches. Every element goes through the same batch code, also the last few that do not
// fill a batch, so a number does not depend on where in an array it stands.
namespace pollen::kernels {

// Elements in one block of a parallel elementwise loop.
inline constexpr std::int64_t map_grain = 32768;

// How many steps of a loop make one block, if one step works on `step` elements.
inline std::int64_t grain_for(std::int64_t step, std::int64_t block = map_grain) {
    return step < block ? block / std::max<std::int64_t>(1, step) : 1;
}

// An operand that moves along with the index, and one that stays: the same number for all elements.
template <class T>
struct Stream {
    const T* data;
    Batch<T> load(std::int64_t i) const { return Batch<T>::load_unaligned(data + i); }
    Batch<T> load_part(std::int64_t i, std::int64_t n) const { return load_first_repeated(data + i, n); }
    Batch<T> load_one() const { return Batch<T>(data[0]); }
    Stream from(std::int64_t i) const { return {data + i}; }
};

template <class T>
struct Splat {
    T value;
    Batch<T> load(std::int64_t) const { return Batch<T>(value); }
    Batch<T> load_part(std::int64_t, std::int64_t) const { return Batch<T>(value); }
    Batch<T> load_one() const { return Batch<T>(value); }
    Splat from(std::int64_t) const { return *this; }
};

// out[i] = f(in[i]...) for i < n, on this thread. The last batch overlaps the one before it where n is no multiple of
// the batch size; it is computed first, so that out may be one of the inputs.
template <class T, class F, class... In>
inline void map_serial(std::int64_t n, T* out, const F& f, const In&... in) {
    constexpr std::int64_t width = Batch<T>::size;
    if (n == 1) {
        out[0] = Batch<T>(f(in.load_one()...)).get(0);
    } else if (n < width) {
        if (n > 0) store_first(out, Batch<T>(f(in.load_part(0, n)...)), n);
    } else if (n % width == 0) {
        for (std::int64_t i = 0; i < n; i += width) Batch<T>(f(in.load(i)...)).store_unaligned(out + i);
    } else {
        const Batch<T> last = f(in.load(n - width)...);
        for (std::int64_t i = 0; i + width <= n; i += width) Batch<T>(f(in.load(i)...)).store_unaligned(out + i);
        last.store_unaligned(out + n - width);
    }
}

template <class T, class F, class... In>
inline void map(std::int64_t n, T* out, const F& f, const In&... in) {
    if (n <= map_grain) return map_serial(n, out, f, in...);
    parallel_for(n, map_grain, [&](std::int64_t begin, std::int64_t end) {
        map_serial(end - begin, out + begin, f, in.from(begin)...);
    });
}

// The gradient form: writes f where nothing is there yet, adds f otherwise, does nothing where no gradient is wanted.
template <class T, class F, class... In>
inline void map_into(const GradientSlot<T>& slot, std::int64_t n, const F& f, const In&... in) {
    if (!slot) return;
    if (slot.fresh)
        map(n, slot.data, f, in...);
    else
        map(
            n, slot.data, [&f](const Batch<T>& sum, const auto&... x) { return sum + f(x...); }, Stream<T>{slot.data},
            in...);
}

// w where v is above 0 or NaN, else 0: the rectifier of v, for w = v, and its derivative, for w = dL/dy. In the latter
// v may be the rectifier's input or its output.
struct WhereAbove {
    template <class B>
    B operator()(const B& v, const B& w) const {
        return xsimd::select(v <= B(0), B(0), w);
    }
    template <class B>
    B operator()(const B& v) const {
        return (*this)(v, v);
    }
};

}  // namespace pollen::kernels
