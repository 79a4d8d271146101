#pragma once

#include <cstdint>

namespace pollen {

// Who draws from which random streams of a seed: the upper 8 bits of a stream's number say what for, the rest count.
// So one seed serves a whole run, and no two parts of it ever see the same numbers.
enum class Purpose : std::uint32_t {
    user,            // streams 0, 1, ...: left to programs that use pollen
    initial_values,  // one stream a parameter
    split,           // dividing a data set
    batches,         // the order of an epoch (step = epoch), or the items of a fresh draw (step = step)
    augmentation,    // shifts and flips (step = step)
    layers,          // one stream for each random layer of a network, in the order they are called (step = step)
};

constexpr std::uint32_t stream_of(Purpose purpose, std::uint32_t k = 0) {
    return static_cast<std::uint32_t>(purpose) << 24 | k;
}

}  // namespace pollen
