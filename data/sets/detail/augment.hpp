#pragma once

#include <pollen/data/sets/batches.hpp>

namespace pollen::detail {

// Changes images (n, channels, height, width) of the batch of a step. Each place in the batch has its own random
// numbers. `places` are those of the images, in increasing order; none: the images are the whole batch.
template <Real T>
void augment(Tensor<T>& images, const BatchOptions& options, std::int64_t step,
             std::span<const std::int64_t> places = {});

}  // namespace pollen::detail
