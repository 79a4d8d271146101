#pragma once

// All likelihoods.
#include <pollen/nn/bernoulli.hpp>
#include <pollen/nn/categorical.hpp>
#include <pollen/nn/gaussian.hpp>
#include <pollen/nn/poisson.hpp>
#include <pollen/nn/student_t.hpp>
