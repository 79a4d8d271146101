#pragma once

#include <pollen/nn/potentials/potential.hpp>

#include <string>
#include <utility>
#include <vector>

namespace pollen::detail {

// What tells a potential and its data from others: its facts(), or, if it has none, a hash of energies and gradients at
// two fixed points, of all data and of some batches.
template <Real T>
std::vector<std::pair<std::string, std::string>> model_facts(const Potential<T>& potential);

// The name of that hash.
inline constexpr const char* energies_at_fixed_points = "energies at fixed points";

}  // namespace pollen::detail
