#pragma once

#include <pollen/data/io/detail/file_lock.hpp>
#include <pollen/data/io/file.hpp>
#include <pollen/nn/module/parameter.hpp>
#include <pollen/nn/training/detail/run_facts.hpp>
#include <pollen/nn/training/train.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pollen::detail {

// All that the next step of a training run depends on. Batches, random layers and schedules are functions of the seed
// and the step, so the step is their whole state.
template <Real T>
struct TrainState {
    std::int64_t step = 0;  // steps done
    Tensor<T> theta;
    std::vector<Tensor<T>> memory;  // of the optimiser
    double loss_sum = 0;            // over the epoch that is going on
    std::int64_t loss_items = 0;
    double complexity = 0;        // at the last step of an epoch, as EpochRecord has it
    std::int64_t best_epoch = 0;  // 0: none yet
    Evaluation best_so_far;
    Tensor<T> best;  // theta of that epoch
    std::vector<EpochRecord> history;

    // All steps of an epoch are made, but the epoch has no record yet: a run may be stopped while it validates.
    bool epoch_is_open(std::int64_t per_epoch) const { return step % per_epoch == 0 && loss_items > 0; }
};

// The file of a run: a sealed safetensors file with `theta.0.weight`, `memory0.0.weight`, `best.0.weight`, `history`,
// and the rest in its metadata, with what the run is.
//
// While it lives, no other run can use the same file, unless it cannot be locked.
template <Real T>
class Checkpoint {
  public:
    // Takes the lock, and removes what a killed run left half written. Throws a FileError if another run has the lock.
    // If nothing may be written there, a run that is resumed can still be read.
    Checkpoint(std::string path, const Parameters<T>& parameters, RunFacts facts, bool resume);

    bool locked() const { return lock_.held(); }
    // Throws a FileError if nothing may be written there.
    void check_writable() const { lock_.check_writable(); }

    // The saved run, or nothing if there is no such file. Throws a FileError if the file is damaged, is anything but a
    // saved run, or is another run; the message says what differs.
    std::optional<TrainState<T>> read() const;

    // Throws a FileError if the file is there and is anything but a saved run.
    void check_may_replace() const;

    void write(const TrainState<T>& state) const;

  private:
    bool exists() const;
    ReadLimits limits() const;

    std::string path_;
    const Parameters<T>& parameters_;
    RunFacts facts_;
    FileLock lock_;
};

// What read() does with the bytes of the file.
template <Real T>
TrainState<T> parse_checkpoint(Bytes bytes, const std::string& name, const Parameters<T>& parameters,
                               const RunFacts& facts, const ReadLimits& limits = {});

}  // namespace pollen::detail
