#pragma once

#include <pollen/autograd/kernels/map.hpp>
#include <pollen/autograd/math.hpp>
#include <pollen/autograd/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

// Probabilities given by their logarithms, up to a constant: the last axis of a tensor of logits.
namespace pollen::kernels {

// log sum_k exp(v_k); -infinity where all are
template <class T>
T log_sum_exp(const T* v, std::int64_t n) {
    const T top = n > 0 ? *std::max_element(v, v + n) : -std::numeric_limits<T>::infinity();
    if (!std::isfinite(top)) return top;
    T sum = 0;
    for (std::int64_t k = 0; k < n; ++k) sum += math::exp(v[k] - top);
    return top + math::log(sum);
}

// Calls body(row) for rows of k numbers each.
template <class Body>
void parallel_rows(std::int64_t rows, std::int64_t k, const Body& body) {
    parallel_for(rows, grain_for(8 * k), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t r = begin; r < end; ++r) body(r);
    });
}

// A class drawn with probabilities exp(v_k) / sum, by the i-th pair of random words of the key.
template <class T>
std::int32_t draw_class(const T* v, std::int64_t n, const RandomKey& key, std::uint64_t i) {
    const double high = bits_at(key, 2 * i), low = bits_at(key, 2 * i + 1);
    double left = high * 0x1p-32 + low * 0x1p-64;
    const double all = static_cast<double>(log_sum_exp(v, n));
    std::int64_t last = 0;
    for (std::int64_t k = 0; k < n; ++k) {
        const double p = math::exp(static_cast<double>(v[k]) - all);
        if (left < p) return static_cast<std::int32_t>(k);
        left -= p;
        if (p > 0) last = k;
    }
    return static_cast<std::int32_t>(last);  // rounding alone leads here
}

// The shape without its last axis, and with one more.
inline Shape without_last(const Shape& shape) { return Shape(shape.sizes().first(shape.sizes().size() - 1)); }
inline Shape with_last(const Shape& shape, std::int64_t size) {
    std::array<std::int64_t, max_rank + 1> sizes{};
    std::copy(shape.sizes().begin(), shape.sizes().end(), sizes.begin());
    sizes[shape.sizes().size()] = size;
    return Shape(std::span<const std::int64_t>(sizes).first(shape.sizes().size() + 1));
}

}  // namespace pollen::kernels
