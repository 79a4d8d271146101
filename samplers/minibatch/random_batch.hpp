#pragma once

#include <pollen/autograd/random.hpp>

#include <cstdint>
#include <vector>

namespace pollen {

// Draws n of the items 0, ..., items - 1, no item twice, every set of n equally likely (Floyd's algorithm; Bentley and
// Floyd, Programming pearls: a sample of brilliance, 1987). The work is O(n) however many items there are, and in the
// steady state no memory is allocated. The order is fixed but not random.
class BatchDraw {
  public:
    void operator()(Random& random, std::int64_t n, std::int64_t items, std::vector<std::int64_t>& out);

  private:
    std::vector<std::int64_t> table_;  // a hash table of the items drawn so far, -1 where it is free
};

// The batch of step `step` of a chain: fresh each step, as the exact laws of stochastic-gradient samplers have it.
Random batch_random_of(std::uint64_t seed, std::uint32_t chain, std::int64_t step);
void draw_batch(std::uint64_t seed, std::uint32_t chain, std::int64_t step, std::int64_t n, std::int64_t items,
                std::vector<std::int64_t>& out);

}  // namespace pollen
