#pragma once

#include <pollen/samplers/run/run_chains.hpp>

namespace pollen::test {

// Three short chains that say nothing.
inline RunOptions short_run(std::int64_t warmup = 50, std::int64_t draws = 60) {
    return {.chains = 3, .warmup = warmup, .draws = draws, .seed = 7, .show = Show::nothing};
}

}  // namespace pollen::test
