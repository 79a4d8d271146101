#pragma once

#include <pollen/nn/potentials/function_potential.hpp>

// The published hybrid (Keng 2023, Eq. 37 to 39): preconditioned SGLD on sigma, nu, s_1 and the means mu of the steps
// of a variational path,
//
//     s_i = s_{i-1} + mu_i + sigma eps_i,      that is   s = path + sigma W,   path = s_1 + cumsum(mu)
//
// with a fresh walk W for each item of a batch. What is sampled:
//
//     equation_39     log p(sigma) + log p(nu) + log p(s_1) + E_W[sum_i log p(r_i | s_i, nu)]
//                         - sum_i mu_i^2 / (2 sigma^2)
//                     The last term is E_W[sum_i log p(s_i | s_{i-1}, sigma) - log q(s_i | s_{i-1})].
//     full_density    The same and -(n - 1) log sigma, so that the means have the density of the model's steps: log q
//                     is left out, since the means are sampled and not only optimised.
//     as_published    log p(sigma) + log p(nu) + E_W[sum_i log p(r_i | s_i, nu)] + (n - 1) log |sigma|
//                     The priors of the path and of s_1 are missing, and sigma and nu may become negative.
//     no_means        log p(sigma) + log p(nu) + log p(s_1) + E_W[sum_i log p(r_i | s_i, nu)] with mu = 0
//                     Keng asks why s_i is modelled at all: a fresh walk ignores the returns.
//
// theta is log sigma, log nu, s_1 and mu / sigma, or without mu; as published it is sigma - 0.1, nu - 10, s_1 and mu.
enum class Loss { as_published, equation_39, full_density, no_means };
pollen::FunctionPotential<double> hybrid(Loss loss, const pollen::Tensor<double>& returns);

// Where its chains begin: sigma = 0.1, or 0.001 without means, nu = 10, and a path that stays at the level of the
// returns.
std::vector<double> start_of_hybrid(Loss loss, const pollen::Tensor<double>& returns);

// What draws of theta (chains, draws, size) mean for n days: sigma and nu (chains, draws), the path of the means and s
// with a walk of its own for each draw (chains, draws, n).
struct HybridDraws {
    pollen::Tensor<double> sigma, nu, path, s;
};
HybridDraws meaning_of(Loss loss, const pollen::Tensor<double>& theta, std::int64_t n);
