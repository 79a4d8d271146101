#pragma once

#include <pollen/autograd/support/group.hpp>
#include <pollen/nn/training/detail/checkpoint.hpp>

namespace pollen::detail {

// Gives all ranks the state of a run that rank 0 has: theta of so many numbers, and so many memories of the optimiser.
// A call of the whole group.
template <Real T>
void share_state(Group& group, TrainState<T>& state, std::int64_t numbers, int memories);

// The same for a tensor of one axis.
template <Real T>
void share_numbers(Group& group, Tensor<T>& x, std::int64_t numbers);

}  // namespace pollen::detail
