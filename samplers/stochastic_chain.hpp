#pragma once

#include <pollen/samplers/chain.hpp>

namespace pollen {

// A chain that goes along gradients of batches.
template <Real T>
class StochasticChain : public Chain<T> {
  public:
    // grad U~ at the present position, on a batch drawn after the position was reached. So (theta - c) . gradient / d
    // measures the configurational temperature without bias.
    std::span<const T> gradient() const override = 0;
    // v, of variance h T, where the sampler has momenta: v . v / (h d) measures the kinetic temperature.
    std::span<const T> momentum() const override { return {}; }
    // Has to be called when the potential was changed between two steps.
    virtual void refresh() = 0;
};

}  // namespace pollen
