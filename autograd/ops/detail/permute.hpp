#pragma once

#include <pollen/autograd/ops.hpp>

#include <array>
#include <cstdint>

namespace pollen {

// Axis k of the result is axis order[k] of x.
using AxisOrder = std::array<std::int8_t, max_rank>;

template <Real T>
Var<T> permute_axes(const char* name, Var<T> x, const AxisOrder& order);

}  // namespace pollen
