#pragma once

#include <pollen/nn/potentials/detail/item_blocks.hpp>
#include <pollen/nn/potentials/detail/leaf_sums.hpp>

namespace pollen {

// A sum over blocks of items. Threads share the leaves of the sum, and each works with a Worker of its own.
template <Real T, class Worker>
class BlockSums {
  public:
    // block(worker, items, to) returns the energy of a block and adds its gradient to `to`, which is empty where none
    // is wanted; make() returns a new worker. The sum of the gradients is added to `gradient`.
    template <class Make, class Block>
    double add(const ItemBlocks& cut, std::span<T> gradient, const Make& make, const Block& block) {
        return sums_.add(cut.leaves, gradient, [&](std::int64_t leaf, std::span<T> to) {
            const auto worker = workers_.borrow(make);
            double energy = 0;
            cut.each_block(leaf, [&](const Items& items) { energy += block(*worker, items, to); });
            return energy;
        });
    }

    // A worker for one thread.
    template <class Make>
    auto borrow(const Make& make) {
        return workers_.borrow(make);
    }

  private:
    Workers<Worker> workers_;
    LeafSums<T> sums_;
};

}  // namespace pollen
