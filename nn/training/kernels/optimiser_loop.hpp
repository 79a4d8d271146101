#pragma once

#include <pollen/autograd/kernels/map.hpp>
#include <pollen/nn/training/optimiser.hpp>

// The loop that every optimiser is: each number of theta is read once, with its gradient and memory, and written once.
namespace pollen::kernels {

template <class T, std::size_t... k>
inline void update_batch(const Batch<T>& scale, const Batch<T>& decay, T* theta, const T* gradient,
                         const std::array<T*, 2>& memory, std::int64_t i, const auto& rule, std::index_sequence<k...>) {
    Batch<T> x = Batch<T>::load_unaligned(theta + i);
    const Batch<T> g = scale * Batch<T>::load_unaligned(gradient + i) + decay * x;
    std::array<Batch<T>, sizeof...(k)> m{Batch<T>::load_unaligned(memory[k] + i)...};
    rule(x, g, m[k]...);
    x.store_unaligned(theta + i);
    (m[k].store_unaligned(memory[k] + i), ...);
}

template <class T, std::size_t n>
inline void update_stretch(const UpdateStep& now, const Stretch<T>& at, const auto& rule) {
    constexpr auto memories = std::make_index_sequence<n>();
    constexpr std::int64_t width = Batch<T>::size;
    const Batch<T> scale(static_cast<T>(now.scale)), decay(static_cast<T>(now.decay));
    parallel_for(at.size, map_grain, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t i = begin;
        for (; i + width <= end; i += width)
            update_batch(scale, decay, at.theta, at.gradient, at.memory, i, rule, memories);
        if (i == end) return;
        // The last few go through the same batch code, in a batch of their own.
        alignas(64) T part[4][Batch<T>::size] = {};
        const auto last = static_cast<std::size_t>(end - i);
        std::copy_n(at.theta + i, last, part[0]);
        std::copy_n(at.gradient + i, last, part[1]);
        for (std::size_t k = 0; k < n; ++k) std::copy_n(at.memory[k] + i, last, part[2 + k]);
        update_batch<T>(scale, decay, part[0], part[1], {part[2], part[3]}, 0, rule, memories);
        std::copy_n(part[0], last, at.theta + i);
        for (std::size_t k = 0; k < n; ++k) std::copy_n(part[2 + k], last, at.memory[k] + i);
    });
}

// rule(theta, g[, m0[, m1]]) on batches: reads g, changes the others.
template <class T, class Rule>
void update(const UpdateStep& now, const Stretch<T>& at, const Rule& rule) {
    using B = Batch<T>;
    if constexpr (std::invocable<Rule, B&, const B&, B&, B&>)
        update_stretch<T, 2>(now, at, rule);
    else if constexpr (std::invocable<Rule, B&, const B&, B&>)
        update_stretch<T, 1>(now, at, rule);
    else
        update_stretch<T, 0>(now, at, rule);
}

}  // namespace pollen::kernels

// The float and double versions of a rule.
#define POLLEN_INSTANTIATE_RULE(Rule)                                           \
    template void Rule::update(const UpdateStep&, const Stretch<float>&) const; \
    template void Rule::update(const UpdateStep&, const Stretch<double>&) const;
