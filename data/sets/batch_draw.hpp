#pragma once

#include <pollen/autograd/random.hpp>

#include <cstdint>
#include <vector>

namespace pollen {

// Draws n of the items 0, ..., items - 1, no item twice, every set of n equally likely (Floyd's algorithm; Bentley and
// Floyd, Programming pearls: a sample of brilliance, 1987). The work is O(n) however many items there are, and repeated
// draws allocate no memory. The order of the items is fixed but not random.
//
// Throws a ValueError unless 1 <= n <= items <= 2^32.
class BatchDraw {
  public:
    void operator()(Random& random, std::int64_t n, std::int64_t items, std::vector<std::int64_t>& out);

  private:
    std::vector<std::int64_t> table_;  // a hash table of the items drawn so far; -1 marks a free place
};

}  // namespace pollen
