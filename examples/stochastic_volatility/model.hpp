#pragma once

#include "market.hpp"

#include <pollen/nn/potentials/model.hpp>

// sigma ~ Exponential(10),  nu ~ Exponential(0.1),  s_1 ~ N(0, 100),  s_i ~ N(s_{i-1}, sigma)
// r_i ~ StudentT(nu, 0, exp(s_i))
//
// One posterior; the form says what a sampler moves beside log sigma and log nu.
enum class Form {
    centred,      // s itself
    innovations,  // s_1 and z_i = (s_i - s_{i-1}) / sigma
    filtered,     // z = B(sigma) (s - level), whose covariance is near 1 in the posterior
    no_jacobian   // the same with a mistake: log |ds/dz| is left out of the density
};

pollen::ModelPotential<double> volatility(Form form, const pollen::Tensor<double>& returns);

// Where a chain or a fit begins: at this sigma, nu = 10 and a path that stays at the level.
Numbers start_of(Form form, const pollen::Tensor<double>& returns, double sigma = 0.1);

// (B s)_i = d s_i - e s_{i-1} of the filtered form at a sigma.
struct PathScale {
    double d, e;
};
PathScale path_scale(double sigma);

// The log density of the coordinates at sigma = 0.1, nu = 10 and s_i = -4.5 + sin(i / 20) / 2, i = 0, 1, ...: a number
// that other programs can check. It differs from form to form by the Jacobian.
double log_density_at_a_point(Form form, const pollen::Tensor<double>& returns);
