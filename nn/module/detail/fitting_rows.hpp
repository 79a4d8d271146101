#pragma once

#include <pollen/nn/module/module.hpp>

#include <cstdint>

namespace pollen::detail {

// What the outputs of all layers may take for the rows or items that are evaluated at a time.
constexpr std::int64_t most_output_bytes = 64'000'000;

// How many numbers the nodes of the tape hold, from this one on.
template <Real T>
std::int64_t numbers_since(Tape<T>& tape, std::uint32_t first) {
    std::int64_t numbers = 0;
    for (std::uint32_t k = first; k < tape.state().size(); ++k) numbers += tape.state().node(k).value.size();
    return numbers;
}

// How many rows of x predict() evaluates at a time if its options do not say: 1,000, or fewer if the outputs of all
// layers for them would take more than 64 MB; at least one. To find out it evaluates one or two rows in Mode::predict,
// unless x is small. Dropout in Mode::sample has outputs of its own, which are not counted.
template <Real T>
std::int64_t fitting_rows(Tape<T>& tape, const Module<T>& module, const Parameters<T>& parameters,
                          std::span<const T> theta, const Tensor<T>& x);

}  // namespace pollen::detail
