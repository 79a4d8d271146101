#pragma once

#include <cstdint>
#include <memory>

namespace pollen::bench {

// A Bayes-by-Backprop step of a 784-H-H-10 network by SGD, batch 128, scale mixture prior, written by hand for this one
// shape: no tape, no layers, nothing general, the weights drawn in one pass and mu and rho updated in another. It is
// made of the library's own products, random numbers and exp(), so what the library's step takes longer is what its
// generality costs.
class FloorBbb {
  public:
    explicit FloorBbb(std::int64_t hidden);
    ~FloorBbb();
    void step();

  private:
    struct Network;
    std::unique_ptr<Network> network_;
};

}  // namespace pollen::bench
