#pragma once

#include <pollen/autograd/random.hpp>

#include <cstdint>
#include <string>

namespace pollen {

// A number, or any number between two with equal probability: 20, or {10, 30}.
template <class N>
struct UniformRange {
    N low, high;

    UniformRange(N n) : low(n), high(n) {}
    UniformRange(N l, N h) : low(l), high(h) {}

    // One of these numbers. A range of a single number takes no random numbers.
    N draw(Random& random) const;
    // "20", or "10..30"
    std::string describe() const;
};

extern template struct UniformRange<std::int64_t>;
extern template struct UniformRange<double>;

}  // namespace pollen
