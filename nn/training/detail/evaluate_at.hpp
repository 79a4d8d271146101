#pragma once

#include <pollen/nn/training/train.hpp>

#include <stop_token>

namespace pollen::detail {

// evaluate() with the parameters of the network and the likelihood in theta; if it is empty, with their own values.
// `stop` is that of the training run that asks, or null: before each batch, TrainingStopped is thrown if the run is to
// end.
template <Real T>
Evaluation evaluate_at(std::span<const T> theta, const Parameters<T>& parameters, const Module<T>& net,
                       const Likelihood<T>& likelihood, const Dataset<T>& data, std::int64_t batch,
                       const std::stop_token* stop = nullptr);

}  // namespace pollen::detail
