#pragma once

// All likelihoods.
#include <pollen/nn/likelihoods/bernoulli.hpp>
#include <pollen/nn/likelihoods/categorical.hpp>
#include <pollen/nn/likelihoods/gaussian.hpp>
#include <pollen/nn/likelihoods/poisson.hpp>
#include <pollen/nn/likelihoods/student_t.hpp>
