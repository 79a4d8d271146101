#pragma once

constexpr double correlation = 0.9;

// A stochastic-gradient sampler has a law of its own. On the Gaussian of two numbers of variance 1 with this
// correlation, at T = 1 and with gradients of variance V = 1, it is a Gaussian, too, and known. These are the mean
// errors of its four covariances.

// SGLD of step e.
double sgld_covariance_error(double e);
// SGHMC of step h and friction a, which is told V.
double sghmc_covariance_error(double h, double a);
