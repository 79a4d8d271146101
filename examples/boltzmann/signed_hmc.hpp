#pragma once

#include <pollen/nn/potentials/potential.hpp>

#include <cstdint>
#include <vector>

// Hamiltonian Monte Carlo on exp(-E - sign p.p / 2), where sign is 1, or -1 by mistake: the energies of 8 chains,
// (8, draws), which begin at `start`. Throws Interrupted on Ctrl-C.
pollen::Tensor<double> signed_hmc(pollen::Potential<double>& potential, const std::vector<double>& start, double sign,
                                  std::int64_t draws, std::uint64_t seed);
