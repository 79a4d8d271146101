#pragma once

#include <pollen/autograd/kernels/lanes.hpp>
#include <pollen/autograd/kernels/rounding.hpp>
#include <pollen/nn/pruning/sparse_pattern.hpp>

// The inner loops of products with sparse matrices.
namespace pollen::kernels {

// f(k) for the numbers k of a row.
template <class F>
POLLEN_INLINE inline void each_number(const SparsePattern::Row& row, const F& f) {
    for (std::int64_t t = 0; t < row.steps; ++t) f(row.first + t * row.stride);
    for (std::int64_t k = row.rest; k < row.end; ++k) f(k);
}

// V vectors of sums of numbers times vectors, each in two parts, so that additions need not wait for each other.
template <class T, int V>
class RowSums {
  public:
    POLLEN_INLINE explicit RowSums(T start) {
        unroll<V>([&](auto v) POLLEN_INLINE {
            sum_[v] = Batch<T>(start);
            sum_[V + v] = Batch<T>(T(0));
        });
    }

    // Adds values[k] times the V vectors at place(k), for `count` numbers k from `first` on, `stride` apart.
    template <class Place>
    POLLEN_INLINE void add(const T* values, std::int64_t first, std::int64_t stride, std::int64_t count,
                           const Place& place) {
        std::int64_t k = first;
        for (; count >= 2; count -= 2, k += 2 * stride) {
            add_one<0>(values[k], place(k));
            add_one<V>(values[k + stride], place(k + stride));
        }
        if (count > 0) add_one<0>(values[k], place(k));
    }

    POLLEN_INLINE void store(T* out) const {
        unroll<V>([&](auto v) POLLEN_INLINE { (sum_[v] + sum_[V + v]).store_unaligned(out + v * lanes<T>); });
    }

  private:
    template <int first>
    POLLEN_INLINE void add_one(T value, const T* x) {
        const Batch<T> factor(value);
        unroll<V>([&](auto v) POLLEN_INLINE {
            sum_[first + v] = multiply_add(factor, Batch<T>::load_unaligned(x + v * lanes<T>), sum_[first + v]);
        });
    }

    Batch<T> sum_[2 * V];
};

// sum_i a[i] b[i] for n a multiple of sum_lanes
template <class T>
T dot_of_vectors(std::int64_t n, const T* a, const T* b) {
    constexpr std::int64_t W = sum_lanes<T>;
    Lanes<T> even(T(0)), odd(T(0));
    const auto add = [&](Lanes<T>& sum, std::int64_t i) POLLEN_INLINE {
        each_part<T>([&](std::size_t p) POLLEN_INLINE {
            const std::int64_t at = i + static_cast<std::int64_t>(p) * lanes<T>;
            sum.part[p] = multiply_add(Batch<T>::load_unaligned(a + at), Batch<T>::load_unaligned(b + at), sum.part[p]);
        });
    };
    std::int64_t i = 0;
    for (; i + 2 * W <= n; i += 2 * W) {
        add(even, i);
        add(odd, i + W);
    }
    if (i < n) add(even, i);
    return sum_of(lanes_of<T>([&](std::int64_t p) {
        return even.part[static_cast<std::size_t>(p)] + odd.part[static_cast<std::size_t>(p)];
    }));
}

}  // namespace pollen::kernels
