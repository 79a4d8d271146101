#pragma once

#include <pollen/nn/variational/posterior.hpp>

// The two ops that mean-field posteriors are made of, fused by hand: Bayes by Backprop spends its time here.
namespace pollen {

// w = mu + sigma eps with sigma = log(1 + exp(rho)) and eps the normal numbers of `key`, and for the vector of two
//
//     log q(w) = sum -log sigma - eps^2 / 2 - log(2 pi) / 2        log p(w), the prior's (0 where it is null)
//
// The value of the second is NaN unless `value` is set: it costs as much as the draw, and the gradient does without it.
// The prior must live as long as the nodes do.
template <Real T>
WeightDraw<T> draw_weights(Var<T> mu, Var<T> rho, const Prior* prior, const RandomKey& key, bool value);

// E_q log q(w) and E_q log p(w) in closed form, for a prior N(0, prior_sd^2).
template <Real T>
Var<T> expected_log_q_log_p(Var<T> mu, Var<T> rho, double prior_sd, bool value);

}  // namespace pollen
