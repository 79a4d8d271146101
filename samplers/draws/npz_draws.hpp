#pragma once

#include <pollen/samplers/draws/draws.hpp>

#include <string>

namespace pollen {

// The draws as an NPZ file: an array (chains, draws, ...) for each quantity, under its name, and for what the sampler
// says under the names of CmdStan's columns: lp__, accept_stat__, stepsize__, treedepth__, n_leapfrog__, divergent__,
// energy__, invalid__ and weight__, (chains, draws) each.
void write_npz_draws(const std::string& path, const Draws& draws);

}  // namespace pollen
