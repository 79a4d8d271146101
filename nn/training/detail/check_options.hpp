#pragma once

#include <pollen/nn/training/train.hpp>

namespace pollen::detail {

// Throws a ValueError unless the options of a run are possible. Only rank 0 of a group needs a checkpoint.
void check_options(const TrainOptions& options);

}  // namespace pollen::detail
