#pragma once

// All priors.
#include <pollen/nn/priors/fan_in_prior.hpp>
#include <pollen/nn/priors/flat_prior.hpp>
#include <pollen/nn/priors/gaussian_prior.hpp>
#include <pollen/nn/priors/hierarchical_prior.hpp>
#include <pollen/nn/priors/laplace_prior.hpp>
#include <pollen/nn/priors/prior.hpp>
#include <pollen/nn/priors/scale_mixture_prior.hpp>
#include <pollen/nn/priors/student_t_prior.hpp>
