#pragma once

#include <pollen/nn/potentials/potential.hpp>

#include <cstdint>
#include <vector>

struct GaussianFitOptions {
    std::vector<double> start;   // the first mean
    double sd = 0.05;            // the first width
    std::int64_t rank = 0;       // columns of V; 0: mean field
    std::int64_t steps = 10000;  // and as many again for the columns
    double rate = 0.02;          // of Adam, along a cosine to 0
    std::int64_t draws = 1000;
    std::uint64_t seed = 1;
};

struct GaussianFit {
    pollen::Tensor<double> mu, rho, factors;  // factors: (rank, size)
    pollen::Tensor<double> draws;             // (draws, value_count): the values of the potential at draws from q
    pollen::Tensor<double> elbo;              // (1, draws): -U(theta) - log q(theta) at them
    double seconds = 0;                       // that the fit took
};

// Variational inference for any potential, on its scale without bounds: q is theta = mu + softplus(rho) eps + V z with
// eps and z normal. Adam climbs the ELBO E_q[-U(theta) - log q(theta)] along the gradient at one draw a step, first
// without V. Throws Interrupted on Ctrl-C.
GaussianFit fit_gaussian(pollen::Potential<double>& potential, const GaussianFitOptions& options);
