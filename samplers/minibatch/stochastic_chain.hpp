#pragma once

#include <pollen/samplers/chain.hpp>

namespace pollen {

// A chain that follows gradients of batches.
template <Real T>
class StochasticChain : public Chain<T> {
  public:
    // grad U~ at the present position, on a batch drawn after the position was reached. So (theta - c) . gradient / d
    // measures the configurational temperature without bias.
    std::span<const T> gradient() const override = 0;
    // v, of variance h T, if the sampler has momenta: v . v / (h d) measures the kinetic temperature.
    std::span<const T> momentum() const override { return {}; }
    // Call it after a change of the potential between two steps. Returns how many gradients it computed.
    virtual std::int64_t refresh() = 0;
    // The same for one kind of change, without computing a gradient: `by |theta_k|^2 / 2 + constant` was added to the
    // potential, with theta_k the `count` numbers of theta from `first` on.
    virtual void add_quadratic(std::int64_t first, std::int64_t count, double by, double constant) = 0;
};

}  // namespace pollen
