#pragma once

#include <pollen/nn/potentials/potential.hpp>

namespace pollen {

// A potential that gives its prior and the likelihood of some items apart: what a SpreadPotential needs of the items
// that a rank has. NetworkPotential and ModelPotential are such potentials, and a potential of your own may be.
template <Real T>
class ItemwisePotential : public Potential<T> {
  public:
    // -log p(theta), and -T log |Jacobian|. Writes its gradient, unless that is empty.
    virtual double prior(std::span<const T> theta, std::span<T> gradient) = 0;
    // -scale sum of log p(x_i | theta) over the items. Adds its gradient to `to`, unless that is empty. Several threads
    // may call it at the same time. The bits must not depend on which other items there are.
    virtual double likelihood(std::span<const T> theta, std::span<const std::int64_t> items, double scale,
                              std::span<T> to) = 0;

    // Whether one evaluation has enough work for all threads; otherwise threads evaluate several blocks of items at the
    // same time.
    virtual bool large() const { return false; }

    // A text that tells the model from others, whatever the items: describe() without them.
    virtual std::string law() const { return this->describe(); }
    // What else must be alike on all ranks, so that they compute parts of the same sum.
    virtual std::string agreement() const { return ""; }

    // Throws a ValueError if the likelihood is not a sum over items, or if a draw depends on them.
    virtual void check_itemwise() {}
};

}  // namespace pollen
