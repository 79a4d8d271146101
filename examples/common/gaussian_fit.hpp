#pragma once

#include "climb.hpp"

// Variational inference with Gaussians, for any potential, on its scale without bounds.

// theta = mu + softplus(rho) eps with eps normal: independent numbers, around `mean` with `sd`.
Family mean_field_family(const std::vector<double>& mean, double sd);

// theta = mu + softplus(rho) eps + V z with z normal, too. It starts at a fitted mean field, with these rows of V'.
Family low_rank_family(const Family& mean_field, pollen::Tensor<double> rows);
