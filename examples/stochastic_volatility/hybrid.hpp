#pragma once

#include <pollen/nn/potentials/model.hpp>

// `count` random walks W of n numbers each, from 0 in steps of N(0, 1).
pollen::Tensor<double> random_walks(std::int64_t count, std::int64_t n, std::uint64_t seed);

// SGLD on sigma, nu, s_1 and the means mu of the steps of a variational path,
//
//     s_i = s_{i-1} + mu_i + sigma eps_i,      that is   s = path + sigma W,   path = s_1 + cumsum(mu)
//
// The density that is sampled, with mu_i = sigma z_i, is
//
//     log p(sigma) + log p(nu) + log p(s_1) + sum_i log N(z_i; 0, 1) + E_W[sum_i log p(r_i | s_i, nu)]
//
// The mean E_W is over the given walks: batches are made of them. As published there is -E log q = (n - 1) log sigma
// in the place of the priors of mu and s_1, mu itself is moved, and sigma and nu may become negative.
enum class Loss { full_density, as_published };
pollen::ModelPotential<double> hybrid(Loss loss, const pollen::Tensor<double>& returns,
                                      const pollen::Tensor<double>& walks);

// Where its chains begin: sigma = 0.1, nu = 10, and a path that stays at the level of the returns.
std::vector<double> start_of_hybrid(Loss loss, const pollen::Tensor<double>& returns);

// path + sigma W for draws of both; path: (chains, draws, n). Each draw has one of the walks.
pollen::Tensor<double> with_noise(const pollen::Tensor<double>& path, const pollen::Tensor<double>& sigma,
                                  const pollen::Tensor<double>& walks);
