#pragma once

#include <pollen/autograd/support/group.hpp>
#include <pollen/nn/training/detail/checkpoint.hpp>

namespace pollen::detail {

// Copies the state of the run from rank 0 to all ranks. theta and each memory of the optimiser have `numbers` numbers.
// `memories` is how many memories the optimiser has. A call of the whole group.
template <Real T>
void share_state(Group& group, TrainState<T>& state, std::int64_t numbers, int memories);

// The same for a tensor of one axis.
template <Real T>
void share_numbers(Group& group, Tensor<T>& x, std::int64_t numbers);

}  // namespace pollen::detail
