#pragma once

#include <pollen/data/sets/batch_items.hpp>
#include <pollen/data/sets/dataset.hpp>
#include <pollen/data/sets/made_ahead.hpp>

namespace pollen {

// Small changes of images (n, channels, height, width) that leave their meaning alone.
struct Augmentation {
    std::int64_t shift = 0;  // moves by at most this many pixels in each direction; zeros come in
    bool flip = false;       // left and right exchanged, every second time
    bool any() const { return shift > 0 || flip; }
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
    // Throws a ShapeError or a ValueError if the data and the options do not fit.
    Batches(const Dataset<T>& data, BatchOptions options);

    // Batch t = 0, 1, ... of the run.
    Dataset<T> at(std::int64_t step) { return ahead_.at(step); }

    // Steps in which as many items are used as there are: n / size, rounded up.
    std::int64_t per_epoch() const { return items_.per_epoch(); }

  private:
    Dataset<T> make(std::int64_t step);

    const Dataset<T> data_;  // shares the numbers of the one it was given
    const BatchOptions options_;
    BatchItems items_;
    MadeAhead<Dataset<T>> ahead_{[this](std::int64_t step) { return make(step); }};
};

}  // namespace pollen
