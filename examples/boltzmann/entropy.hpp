#pragma once

#include "heat.hpp"

#include "../common/figure.hpp"
#include "../common/table.hpp"

#include <vector>

// Entropy S, mean energy U and free energy F = U - T S at each temperature, and U(T) - S(T), which is the free energy
// at the temperature 1 of a law that is as hot as T. S(T) - S(1) is also measured, from the energies of draws at
// neighbouring temperatures: no grid, no volume. With `slip` that measured entropy is U + log Z.
ResultTable table_of_entropies(const std::vector<Heat>& heats, bool slip);

// U, T S and F over T, and the free energy at three temperatures of laws that are too cold or too hot.
void draw_entropies(Panel& balance, Panel& lowest);
