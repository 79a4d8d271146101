#pragma once

#include "../common/example.hpp"

#include <cstdint>

// A pollen grain in water, with the thermal energy kT, the friction gamma and the mass m:
//
//     m x'' = -gamma x' - dU/dx + random force,    D = kT / gamma
//
// From ballistic to diffusive motion, Einstein's relation, and the limit of large friction in a trap U = x^2 / 2.
void grain_in_water(const Example& example, std::int64_t grains);
