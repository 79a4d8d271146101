#pragma once

#include <pollen/nn/training/train.hpp>

#include <functional>

namespace pollen::detail {

// evaluate() with the parameters of the network and the likelihood in theta; if it is empty, with their own values.
// Calls check_stop() before each batch, if it is not empty, and lets pass what it throws.
template <Real T>
Evaluation evaluate_at(std::span<const T> theta, const Parameters<T>& parameters, const Module<T>& net,
                       const Likelihood<T>& likelihood, const Dataset<T>& data, std::int64_t batch,
                       const std::function<void()>& check_stop = {});

}  // namespace pollen::detail
