#pragma once

#include <pollen/nn/distributions/argument.hpp>

#include <type_traits>

namespace pollen {

// Logistic regression as one node: with x (N, D) data, a row for each of the N elements of y, each 0 or 1,
//
//     sum_i log Bernoulli(y_i | logit_i),        logit_i = alpha + x_i . beta
//
// alpha is one number and beta has D of them. The gradient is worked out along with the value, so x is read once, and
// neither x nor y has to outlive the call.
template <Real T>
Var<T> bernoulli_logit_glm_lpmf(const Indices& y, const Tensor<T>& x, const std::type_identity_t<ArgRef<T>>& alpha,
                                const std::type_identity_t<ArgRef<T>>& beta);
template <Real T>
Var<T> bernoulli_logit_glm_lpmf(const Tensor<T>& y, const Tensor<T>& x, const std::type_identity_t<ArgRef<T>>& alpha,
                                const std::type_identity_t<ArgRef<T>>& beta);

}  // namespace pollen
