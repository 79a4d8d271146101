#pragma once

#include "../common/figure.hpp"
#include "grid.hpp"
#include "moments.hpp"

#include <pollen/samplers/run/run_chains.hpp>

#include <filesystem>
#include <vector>

// SGD, a path from each start.
struct Paths {
    std::vector<std::vector<double>> starts;
    pollen::Draws draws;
};

// The data, the exact posterior, one chain of each run over it, the paths of SGD, and P(theta2 > 0) of all chains. The
// contours are drawn from a coarse grid, since every panel has them.
void draw_figure(const std::filesystem::path& name, const std::vector<double>& data, const Grid& grid,
                 const Grid& coarse, const std::vector<Run>& runs, const Paths& paths);
