#pragma once

#include <pollen/nn/training/detail/checkpoint.hpp>

namespace pollen::detail {

// What a run shows after a step: "epoch 2/10  loss 0.1234  KL 56.7  validation accuracy 0.9876  rate 0.001". `score` is
// the name of the score of the validation data, or null without them; `bayesian`: there are Bayesian layers.
template <Real T>
std::string progress_text(const TrainState<T>& state, const StepRecord& last, std::int64_t epochs, bool bayesian,
                          const char* score);

}  // namespace pollen::detail
