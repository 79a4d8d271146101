#pragma once

#include <pollen/nn/training/detail/checkpoint.hpp>

namespace pollen::detail {

// Which epoch of a run is the best one, by its validation data, and whether the run ends early.
template <Real T>
class BestEpoch {
  public:
    BestEpoch(const TrainOptions& options, const Likelihood<T>& likelihood)
        : options_(options), likelihood_(likelihood) {}

    // Makes the epoch the best one of the run if it is better than those before; returns whether it is. The parameters
    // are left to the caller.
    bool keep(TrainState<T>& state, const EpochRecord& record) const;

    // Whether the run has gone on for `patience` epochs after its best one.
    bool ends_early(const TrainState<T>& state) const;

    // Throws a FileError unless the history of a saved run leads to the best epoch that it has, and the run would not
    // have ended early.
    void check_saved(TrainState<T>& state) const;

  private:
    bool better(const TrainState<T>& state, const Evaluation& now) const;

    const TrainOptions& options_;
    const Likelihood<T>& likelihood_;
};

}  // namespace pollen::detail
