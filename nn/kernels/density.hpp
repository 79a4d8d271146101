#pragma once

#include <pollen/autograd/kernels/reduce.hpp>
#include <pollen/nn/distributions/argument.hpp>

#include <array>

// Sums of an elementwise function of a few arguments, f(x_i; p_i, q_i, ...), and its partial derivatives.
//
// A law is the function. It is made of the parameters, in batches, and then asked at x:
//
//     struct Law {
//         Law(const Batch<T>& p, const Batch<T>& q);
//         void for_value();          // where there is one: works out what value() needs and slopes() does not
//         Batch<T> value(const Batch<T>& x) const;
//         void slopes(const Batch<T>& x, const Wanted& wanted, Batch<T>* d) const;   // d[0] = df/dx, d[1] = df/dp, ...
//     };
//
// Parameters that are single numbers are worked up once for all elements. slopes() need not write what is not wanted.
namespace pollen::kernels {

using Wanted = std::array<bool, 4>;

// One argument for all elements: moving along with the index, or one number.
template <class T>
struct Source {
    const T* data;
    bool moves;
};

// Several sources walked through together, a batch at a time.
template <class T, std::size_t n>
class Cursor {
  public:
    Cursor(const std::array<Source<T>, n>& sources, std::int64_t begin) {
        for (std::size_t k = 0; k < n; ++k) {
            step_[k] = sources[k].moves ? static_cast<std::int64_t>(width) : 0;
            at_[k] = sources[k].moves ? sources[k].data + begin : held_[k].data();
            if (!sources[k].moves) Batch<T>(*sources[k].data).store_aligned(held_[k].data());
        }
    }
    Batch<T> load(std::size_t k) const { return Batch<T>::load_unaligned(at_[k]); }
    void next() {
        for (std::size_t k = 0; k < n; ++k) at_[k] += step_[k];
    }
    // The last few elements, filled up to a batch with copies of the first of them.
    void tail(std::int64_t left) {
        for (std::size_t k = 0; k < n; ++k) {
            if (step_[k] == 0) continue;
            for (std::size_t i = 0; i < width; ++i) held_[k][i] = at_[k][static_cast<std::int64_t>(i) < left ? i : 0];
            at_[k] = held_[k].data();
        }
    }

  private:
    static constexpr std::size_t width = Batch<T>::size;

    alignas(64) std::array<std::array<T, Batch<T>::size>, n> held_;
    std::array<const T*, n> at_;
    std::array<std::int64_t, n> step_;
};

enum class Asked { value, slopes };

template <class Law, Asked asked, class C, std::size_t... k>
inline Law make_law(const C& cursor, std::index_sequence<k...>) {
    Law law(cursor.load(k + 1)...);
    if constexpr (asked == Asked::value && requires { law.for_value(); }) law.for_value();
    return law;
}

// Calls use(left, cursor, law) for every batch of [begin, end); left is the number of elements from it on.
template <class Law, Asked asked, class T, std::size_t n, std::size_t m, class Use>
[[gnu::always_inline]] inline void walk(const std::array<Source<T>, n>& sources, std::int64_t begin, std::int64_t end,
                                        const Use& use) {
    constexpr std::int64_t width = Batch<T>::size;
    constexpr auto parameters = std::make_index_sequence<m - 1>();
    Cursor<T, n> cursor(sources, begin);
    bool still = true;
    for (std::size_t k = 1; k < m; ++k) still = still && !sources[k].moves;
    if (still) {
        const Law law = make_law<Law, asked>(cursor, parameters);
        for (std::int64_t left = end - begin; left > 0; left -= width, cursor.next()) {
            if (left < width) cursor.tail(left);
            use(left, cursor, law);
        }
    } else {
        for (std::int64_t left = end - begin; left > 0; left -= width, cursor.next()) {
            if (left < width) cursor.tail(left);
            use(left, cursor, make_law<Law, asked>(cursor, parameters));
        }
    }
}

// A sum of batches that rounds little: every 64 of them are summed apart.
template <class T>
class Total {
  public:
    Total() : all_(T(0)), some_(T(0)) {}
    void add(std::int64_t left, const Batch<T>& x) {
        constexpr std::int64_t width = Batch<T>::size;
        some_ += left < width ? first_lanes<Sum>(left, x) : x;
        if (++count_ % 64 == 0) {
            all_ += some_;
            some_ = Batch<T>(T(0));
        }
    }
    T sum() const { return xsimd::hadd(Batch<T>(all_ + some_)); }

  private:
    Batch<T> all_, some_;
    unsigned count_ = 0;
};

template <class Law, class T, std::size_t n>
T sum_range(const std::array<Source<T>, n>& in, std::int64_t begin, std::int64_t end) {
    Total<T> total;
    walk<Law, Asked::value, T, n, n>(in, begin, end, [&total](std::int64_t left, const auto& at, const Law& law) {
        total.add(left, law.value(at.load(0)));
    });
    return total.sum();
}

// sum_i f(in at i)
template <class Law, class T, std::size_t n>
T sum_law(const std::array<Source<T>, n>& in, std::int64_t size) {
    if (size <= reduce_chunk) return sum_range<Law>(in, 0, size);
    const std::int64_t chunks = (size + reduce_chunk - 1) / reduce_chunk;
    Tensor<T> partial = Tensor<T>::empty(Shape{chunks});
    T* out = partial.fresh_data();
    parallel_for(chunks, 2, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t c = first; c < last; ++c)
            out[c] = sum_range<Law>(in, c * reduce_chunk, std::min(size, (c + 1) * reduce_chunk));
    });
    return reduce_all<Sum, T>(chunks, Keep{}, Stream<T>{out});
}

// out[i] = f(in at i)
template <class Law, class T, std::size_t n>
void map_law(const std::array<Source<T>, n>& in, std::int64_t size, T* out) {
    constexpr std::int64_t width = Batch<T>::size;
    parallel_for(size, reduce_grain, [&](std::int64_t begin, std::int64_t end) {
        T* to = out + begin;
        walk<Law, Asked::value, T, n, n>(in, begin, end, [&to](std::int64_t left, const auto& at, const Law& law) {
            const Batch<T> y = law.value(at.load(0));
            if (left < width)
                store_part(to, left, y);
            else
                y.store_unaligned(to);
            to += width;
        });
    });
}

// Where the derivative with respect to one argument goes: nowhere, to an element of its own each, or into one sum.
template <class T>
struct Sink {
    GradientSlot<T> slot;
    bool moves = false;
};

// The gradients for [begin, end), with g = dL/df behind the arguments; those that do not move are left in sums.
template <class Law, class T, std::size_t n>
void slopes_range(const std::array<Source<T>, n + 1>& in, const std::array<Sink<T>, n>& out, std::int64_t begin,
                  std::int64_t end, T* sums) {
    constexpr std::int64_t width = Batch<T>::size;
    Wanted wanted{};
    for (std::size_t k = 0; k < n; ++k) wanted[k] = static_cast<bool>(out[k].slot);
    std::array<Total<T>, n> totals;
    std::int64_t i = begin;
    walk<Law, Asked::slopes, T, n + 1, n>(in, begin, end, [&](std::int64_t left, const auto& at, const Law& law) {
        std::array<Batch<T>, n> d;
        law.slopes(at.load(0), wanted, d.data());
        const Batch<T> g = at.load(n);
        for (std::size_t k = 0; k < n; ++k) {
            if (!wanted[k]) continue;
            const Batch<T> slope = d[k] * g;
            T* to = out[k].slot.data + i;
            if (!out[k].moves)
                totals[k].add(left, slope);
            else if (left >= width)
                (out[k].slot.fresh ? slope : slope + Batch<T>::load_unaligned(to)).store_unaligned(to);
            else {
                alignas(64) std::array<T, Batch<T>::size> part;
                slope.store_aligned(part.data());
                for (std::int64_t j = 0; j < left; ++j)
                    to[j] = part[static_cast<std::size_t>(j)] + (out[k].slot.fresh ? T(0) : to[j]);
            }
        }
        i += width;
    });
    for (std::size_t k = 0; k < n; ++k)
        if (wanted[k] && !out[k].moves) sums[k] = totals[k].sum();
}

// The gradients of all arguments that want one.
template <class Law, class T, std::size_t n>
void slopes_law(const std::array<Source<T>, n + 1>& in, std::int64_t size, const std::array<Sink<T>, n>& out) {
    std::array<T, n> sums{};
    if (size <= reduce_chunk) {
        slopes_range<Law, T, n>(in, out, 0, size, sums.data());
    } else {
        const std::int64_t chunks = (size + reduce_chunk - 1) / reduce_chunk;
        Tensor<T> partial = Tensor<T>::empty(Shape{chunks, static_cast<std::int64_t>(n)});
        T* held = partial.fresh_data();
        std::fill_n(held, partial.size(), T(0));
        parallel_for(chunks, 2, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t c = first; c < last; ++c)
                slopes_range<Law, T, n>(in, out, c * reduce_chunk, std::min(size, (c + 1) * reduce_chunk),
                                        held + c * static_cast<std::int64_t>(n));
        });
        reduce_axes<Sum, T>(held, partial.shape(), 1u, sums.data());
    }
    for (std::size_t k = 0; k < n; ++k) {
        const GradientSlot<T>& slot = out[k].slot;
        if (slot && !out[k].moves) slot.data[0] = slot.fresh ? sums[k] : slot.data[0] + sums[k];
    }
}

}  // namespace pollen::kernels
