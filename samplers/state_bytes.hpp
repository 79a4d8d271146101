#pragma once

#include <cstddef>
#include <cstdint>

namespace pollen::detail {

// About what a chain of a sampler takes in memory beside its potential, for so many dimensions and numbers of so many
// bytes: eight vectors, and three in double for estimates. A sampler that keeps more says it itself.
template <class S>
double state_bytes_of(const S& sampler, std::int64_t size, std::size_t number) {
    if constexpr (requires { sampler.state_bytes(size, number); })
        return sampler.state_bytes(size, number);
    else
        return static_cast<double>(size) * static_cast<double>(8 * number + 3 * sizeof(double));
}

}  // namespace pollen::detail
