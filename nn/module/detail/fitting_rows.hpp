#pragma once

#include <pollen/nn/module/module.hpp>

namespace pollen::detail {

// How many rows of x predict() evaluates at a time if its options do not say: 1,000, or so many that the outputs of all
// layers for them take 64 MB. To find out it evaluates one or two rows in Mode::predict, unless x is small. Dropout in
// Mode::sample has outputs of its own, which are not counted.
template <Real T>
std::int64_t fitting_rows(Tape<T>& tape, const Module<T>& module, const Parameters<T>& parameters,
                          std::span<const T> theta, const Tensor<T>& x);

}  // namespace pollen::detail
