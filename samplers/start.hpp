#pragma once

#include <pollen/samplers/chain.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pollen {

// A point to begin at, another one for every chain: uniform in (-radius, radius) on the unconstrained scale, drawn
// again until energy and gradient are finite. After 100 attempts a ValueError names the parameters to look at. With a
// SpreadPotential, call it inside lead().
template <Real T>
std::vector<T> find_start(Potential<T>& potential, std::uint64_t seed, std::uint32_t chain, double radius = 2);

// Throws unless a chain of this sampler can begin: there has to be a potential with at least one dimension, a position
// of as many numbers, and a warm-up of no less than 0 steps.
template <Real T>
void check_start(const std::string& sampler, const Potential<T>* potential, const ChainStart<T>& start);

// "tau, theta": the blocks that may be the reason why the energy at theta is not finite. These are the blocks for which
// it is finite when all their numbers are 0; if there are none, those whose gradient is not finite; or else all blocks.
template <Real T>
std::string blocks_to_blame(Potential<T>& potential, const std::vector<T>& theta);

}  // namespace pollen
