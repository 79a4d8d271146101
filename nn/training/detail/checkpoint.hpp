#pragma once

#include <pollen/nn/module/parameter.hpp>
#include <pollen/nn/training/train.hpp>

#include <map>
#include <string>
#include <vector>

namespace pollen {

// All that the next step of a training run depends on. Batches, random layers and schedules are functions of the seed
// and the step, so the step is their whole state.
template <Real T>
struct TrainState {
    std::int64_t step = 0;  // steps done
    Tensor<T> theta;
    std::vector<Tensor<T>> memory;  // of the optimiser
    double loss_sum = 0;            // over the epoch that is going on
    std::int64_t loss_items = 0;
    std::int64_t best_epoch = 0;  // 0: none yet
    Evaluation best_so_far;
    Tensor<T> best;  // theta of that epoch
    std::vector<EpochRecord> history;
};

// A run as a safetensors file: `theta.0.weight`, `memory0.0.weight`, `best.0.weight`, `history`, and the rest in its
// metadata, with `about`, the description of the run.
template <Real T>
void write_checkpoint(const std::string& path, const TrainState<T>& state, const Parameters<T>& parameters,
                      const std::map<std::string, std::string>& about);

// Throws a FileError where a file of that name exists and is anything but such a run.
void check_may_replace(const std::string& path);

// Throws a FileError where the file is not such a run, or is a run of another description, naming what differs.
template <Real T>
TrainState<T> read_checkpoint(const std::string& path, const Parameters<T>& parameters,
                              const std::map<std::string, std::string>& about);

}  // namespace pollen
