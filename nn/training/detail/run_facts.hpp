#pragma once

#include <pollen/nn/training/detail/run_data.hpp>
#include <pollen/nn/training/train.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace pollen::detail {

// What a training run is. A resumed run must share `options` and `data` with the saved one.
struct RunFacts {
    std::map<std::string, std::string> options;  // "batch": "128", ...
    std::map<std::string, std::string> data;     // "training inputs": their shape and a hash of all numbers, ...
    std::int64_t steps = 0;                      // of the whole run
    std::int64_t per_epoch = 1;                  // steps of an epoch
    std::int64_t batch = 1;                      // items in each step of an epoch but the last
    std::int64_t epoch_items = 1;                // in all steps of an epoch
    int memories = 0;                            // of the optimiser
    bool validation = false;
};

// All but the hashes of the data.
template <Real T>
RunFacts run_facts(const Module<T>& net, const Likelihood<T>& likelihood, const RunData<T>& data,
                   const TrainOptions& options, const Dataset<T>* validation, std::int64_t per_epoch);

// Goes through all data once. With `options.spread` it is a call of the whole group. Rank 0 then has hashes of the
// hashes of all blocks, which do not depend on the number of ranks, and of its validation data.
template <Real T>
void add_data_facts(RunFacts& facts, const Dataset<T>& data, const TrainOptions& options, const Dataset<T>* validation);

// A call of the whole group. Throws a GroupError on all ranks unless they make the same run. Validation data are not
// compared: those of rank 0 are used.
template <Real T>
void agree_on_run(Group& group, const RunFacts& facts, const Dataset<T>& data, const TrainOptions& options);

}  // namespace pollen::detail
