#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace pollen::test {

// n uniform numbers between -1 and 1, the same for the same seed.
template <class T>
std::vector<T> random_values(std::int64_t n, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<T> values(static_cast<std::size_t>(n));
    for (T& v : values) v = static_cast<T>(uniform(engine));
    return values;
}

}  // namespace pollen::test
