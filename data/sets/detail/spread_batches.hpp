#pragma once

#include <pollen/data/sets/batches.hpp>
#include <pollen/data/sets/spread.hpp>

#include <vector>

namespace pollen::detail {

// The batches of Batches, spread over the ranks of a group: each rank makes the parts that its blocks have of them. All
// ranks draw the same items, and an image is changed as if its batch were in one piece.
template <Real T>
class SpreadBatches {
  public:
    // `data` are the items of this rank.
    SpreadBatches(const Dataset<T>& data, const Spread& spread, BatchOptions options);

    struct Part {
        std::int64_t block = 0;
        std::int64_t first_row = 0;  // how many items of the batch are in earlier blocks
        Dataset<T> rows;
    };
    struct Batch {
        std::int64_t items = 0;        // on all ranks
        std::vector<Part> parts = {};  // of this rank; blocks without an item are left out
    };
    // Batch t = 0, 1, ... of the run.
    Batch at(std::int64_t step) { return ahead_.at(step); }

    std::int64_t per_epoch() const { return items_.per_epoch(); }

  private:
    Batch make(std::int64_t step);

    const Dataset<T> data_;  // shares the numbers of the one it was given
    const Spread spread_;
    const BatchOptions options_;
    BatchItems items_;
    MadeAhead<Batch> ahead_{[this](std::int64_t step) { return make(step); }};
};

}  // namespace pollen::detail
