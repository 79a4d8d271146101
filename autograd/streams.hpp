#pragma once

#include <cstdint>

namespace pollen {

// Who draws from which random streams of a seed: the upper 8 bits of a stream's number say what for, the rest count.
// So one seed serves a whole run, and no two parts of it ever see the same numbers.
enum class Purpose : std::uint32_t {
    user = 0,               // streams 0, 1, ...: left to programs that use pollen
    initial_values = 1,     // one stream a parameter
    split = 2,              // dividing a data set
    batches = 3,            // the order of an epoch (step = epoch), or the items of a fresh draw (step = step)
    augmentation = 4,       // shifts and flips (step = step)
    layers = 5,             // one for each random layer of a network, in the order they are called (step = step)
    weights = 6,            // one for each random weight tensor, in the same order (step = step)
    predicted_layers = 7,   // the same in prediction (step = draw and group of 1,000 rows)
    predicted_weights = 8,  // (step = draw)
    starts = 9,             // one stream a chain: where it begins
    chains = 10,            // one stream a chain (step = step)
    chain_batches = 11,     // one stream a chain: the items of its batches (step = step)
    simulations = 12,       // one stream a replication: parameters and data of a simulated model
};

constexpr std::uint32_t stream_of(Purpose purpose, std::uint32_t k = 0) {
    return static_cast<std::uint32_t>(purpose) << 24 | k;
}

}  // namespace pollen
