#pragma once

#include <pollen/data/sets/batch_draw.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace pollen {

// How batches are chosen. The two have different laws: over an epoch the noise of the gradient nearly cancels, while
// fresh draws are independent, which is what the theory of stochastic-gradient samplers assumes.
enum class Draw {
    epoch,  // all items in random order, another one each epoch; the last batch of an epoch may be smaller
    fresh,  // each step its own random choice of items, no item twice
};

// Which items are in the batches of a training run. Those of batch t depend on the arguments and on t alone. It holds 8
// bytes for each item.
class BatchItems {
  public:
    // Batches of `size` items, or of all of them if they are fewer. Throws a ValueError unless both are at least 1.
    BatchItems(std::int64_t items, std::int64_t size, Draw draw, std::uint64_t seed);

    // The items of batch t = 0, 1, ..., until the next call. Throws a ValueError if t is negative.
    std::span<const std::int64_t> at(std::int64_t step);

    // Steps in which as many items are used as there are: items / size, rounded up.
    std::int64_t per_epoch() const { return per_epoch_; }

  private:
    std::int64_t items_, size_, per_epoch_;
    Draw how_;
    std::uint64_t seed_;
    std::int64_t epoch_ = -1;
    std::vector<std::int64_t> order_;   // of epoch_
    std::vector<std::int64_t> chosen_;  // the items of a fresh draw
    BatchDraw draw_;
};

}  // namespace pollen
