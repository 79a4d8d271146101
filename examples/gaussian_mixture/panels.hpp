#pragma once

#include "../common/figure.hpp"
#include "grid.hpp"
#include "moments.hpp"

#include <pollen/samplers/run.hpp>

#include <filesystem>
#include <vector>

// The data, the exact posterior, one chain of each run over it, the paths of SGD, and P(theta2 > 0) of all chains.
void draw_figure(const std::filesystem::path& name, const std::vector<double>& data, const Grid& grid,
                 const Grid& coarse, const std::vector<Run>& runs, const pollen::Draws& paths);
