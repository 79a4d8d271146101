#pragma once

#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/random.hpp>
#include <pollen/samplers/detail/dot.hpp>

#include <atomic>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

// The loop of every stochastic-gradient sampler. It passes through theta, gradient and momenta once, in pieces that fit
// into the nearest cache, and draws the noise of a piece just before it is used.
namespace pollen::kernels {

inline constexpr std::int64_t noisy_block = 1024;

template <class T>
inline bool is_finite(T x) {
    return std::abs(x) <= std::numeric_limits<T>::max();
}

template <class T>
bool all_finite(std::span<const T> x) {
    std::atomic<bool> good = true;
    parallel_for(std::ssize(x), map_grain, [&](std::int64_t begin, std::int64_t end) {
        int bad = 0;
        for (std::int64_t i = begin; i < end; ++i) bad |= !is_finite(x.data()[i]);
        if (bad != 0) good.store(false, std::memory_order_relaxed);
    });
    return good;
}

// Calls move(first, count, z) for pieces of [0, n), in parallel; z are `count` standard normals, the numbers first,
// first + 1, ... of the key, or zeros. Returns whether all the calls returned true.
template <class T, class Move>
bool noisy_pass(std::int64_t n, const RandomKey& key, bool noise, const Move& move) {
    std::atomic<bool> good = true;
    parallel_for(n, map_grain, [&](std::int64_t begin, std::int64_t end) {
        alignas(64) T z[noisy_block];
        if (!noise) std::fill_n(z, std::min(noisy_block, end - begin), T(0));
        bool here = true;
        for (std::int64_t i = begin; i < end; i += noisy_block) {
            const std::int64_t count = std::min(noisy_block, end - i);
            if (noise) fill_normal(key, static_cast<std::uint64_t>(i), std::span(z, static_cast<std::size_t>(count)));
            here = move(i, count, static_cast<const T*>(z)) && here;
        }
        if (!here) good.store(false, std::memory_order_relaxed);
    });
    return good;
}

// out = theta - e/2 g + N(0, variance). Returns whether all of it is finite.
template <class T>
bool langevin_step(std::span<const T> theta, std::span<const T> gradient, double e, double variance,
                   const RandomKey& key, std::span<T> out) {
    const T half = static_cast<T>(e / 2), sd = static_cast<T>(std::sqrt(variance));
    return noisy_pass<T>(std::ssize(theta), key, variance > 0,
                         [&, half, sd](std::int64_t first, std::int64_t count, const T* z) {
                             const T *const x = theta.data() + first, *const g = gradient.data() + first;
                             T* const __restrict to = out.data() + first;
                             int bad = 0;
                             for (std::int64_t i = 0; i < count; ++i) {
                                 const T moved = x[i] - half * g[i] + sd * z[i];
                                 to[i] = moved;
                                 bad |= !is_finite(moved);
                             }
                             return bad == 0;
                         });
}

// v = keep v - h g + N(0, variance),  out = theta + v. Returns whether all of it is finite.
//
// If `reduction` is not empty, the variance for number i of theta is variance - reduction_i h^2.
template <class T>
bool momentum_step(std::span<const T> theta, std::span<const T> gradient, double keep, double h, double variance,
                   std::span<const T> reduction, const RandomKey& key, std::span<T> v, std::span<T> out) {
    const T k = static_cast<T>(keep), step = static_cast<T>(h), sd = static_cast<T>(std::sqrt(variance));
    const Batch<T> whole(static_cast<T>(variance)), h2(static_cast<T>(h * h)), none(T(0));
    return noisy_pass<T>(std::ssize(theta), key, variance > 0,
                         [&, k, step, sd](std::int64_t first, std::int64_t count, const T* z) {
                             const T *const x = theta.data() + first, *const g = gradient.data() + first;
                             T *const to = out.data() + first, *const __restrict p = v.data() + first;
                             if (reduction.empty()) {
                                 for (std::int64_t i = 0; i < count; ++i) p[i] = k * p[i] - step * g[i] + sd * z[i];
                             } else {
                                 alignas(64) T noise[noisy_block];
                                 map_serial(
                                     count, noise,
                                     [&](const Batch<T>& less, const Batch<T>& normal) {
                                         return xsimd::sqrt(xsimd::max(whole - h2 * less, none)) * normal;
                                     },
                                     Stream<T>{reduction.data() + first}, Stream<T>{z});
                                 for (std::int64_t i = 0; i < count; ++i) p[i] = k * p[i] - step * g[i] + noise[i];
                             }
                             int bad = 0;
                             for (std::int64_t i = 0; i < count; ++i) {
                                 const T moved = x[i] + p[i];
                                 to[i] = moved;
                                 bad |= !is_finite(moved);
                             }
                             return bad == 0;
                         });
}

// a . b in double, in parallel, in an order that depends on the size alone.
template <class T>
double dot_in_double(std::span<const T> a, std::span<const T> b) {
    const std::int64_t n = std::ssize(a), tasks = (n + map_grain - 1) / map_grain;
    std::vector<double> sums(static_cast<std::size_t>(tasks > 1 ? tasks : 0));
    double total = 0;
    parallel_for(n, map_grain, [&](std::int64_t begin, std::int64_t end) {
        double& sum = tasks > 1 ? sums[static_cast<std::size_t>(begin / map_grain)] : total;
        sum = detail::dot(end - begin, a.data() + begin, b.data() + begin);
    });
    for (const double sum : sums) total += sum;
    return total;
}

}  // namespace pollen::kernels
