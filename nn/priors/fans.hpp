#pragma once

#include <cstdint>

namespace pollen {

// How many numbers a unit of a layer sums up, and how many units of the next layer each number goes to.
struct Fans {
    std::int64_t in = 1;
    std::int64_t out = 1;
};

}  // namespace pollen
