#pragma once

#include <pollen/nn/training/train.hpp>

namespace pollen::detail {

// evaluate() with the parameters of the network and the likelihood in theta; if it is empty, with their own values.
template <Real T>
Evaluation evaluate_at(std::span<const T> theta, const Parameters<T>& parameters, const Module<T>& net,
                       const Likelihood<T>& likelihood, const Dataset<T>& data, std::int64_t batch);

}  // namespace pollen::detail
