#pragma once

#include <pollen/autograd/parallel.hpp>
#include <pollen/data/sets/batch_draw.hpp>
#include <pollen/data/sets/dataset.hpp>

#include <vector>

namespace pollen {

// Small changes of images (n, channels, height, width) that leave their meaning alone.
struct Augmentation {
    std::int64_t shift = 0;  // moves by at most this many pixels in each direction; zeros come in
    bool flip = false;       // left and right exchanged, every second time
    bool any() const { return shift > 0 || flip; }
};

// How batches are chosen. The two have different laws: over an epoch the noise of the gradient nearly cancels, while
// fresh draws are independent, which is what the theory of stochastic-gradient samplers assumes.
enum class Draw {
    epoch,  // all items in random order, another one each epoch; the last batch of an epoch may be smaller
    fresh,  // each step its own random choice of items, no item twice
};

struct BatchOptions {
    std::int64_t size = 128;
    Draw draw = Draw::epoch;
    std::uint64_t seed = 0;
    Augmentation augmentation = {};
};

// The batches of a training run. Batch number t depends on the data, the options and t alone, so a run can be continued
// from any step. While one batch is used the next one is made in the background.
template <Real T>
class Batches {
  public:
    Batches(const Dataset<T>& data, BatchOptions options);

    // Batch t = 0, 1, ... of the run.
    Dataset<T> at(std::int64_t step);

    // Steps in which as many items are used as there are: n / size, rounded up.
    std::int64_t per_epoch() const { return per_epoch_; }

  private:
    Dataset<T> make(std::int64_t step);
    void augment(std::int64_t step, Tensor<T>& images) const;

    const Dataset<T> data_;  // shares the numbers of the one it was given
    BatchOptions options_;
    std::int64_t per_epoch_;
    // Of the background work, from its start to its end.
    std::int64_t epoch_ = -1;
    std::vector<std::int64_t> order_;   // of epoch_
    std::vector<std::int64_t> chosen_;  // the items of a fresh draw
    BatchDraw draw_;
    std::int64_t next_step_ = -1;
    Dataset<T> next_;
    Background background_;  // the last member: its work is over before the others go
};

}  // namespace pollen
