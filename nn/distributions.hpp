#pragma once

// All distributions, and the transforms of constrained parameters. The classes are in namespace pollen::distributions,
// because some share their names with likelihoods; normal_lpdf and its like are in namespace pollen.
#include <pollen/nn/distributions/bernoulli.hpp>
#include <pollen/nn/distributions/bernoulli_logit_glm.hpp>
#include <pollen/nn/distributions/beta.hpp>
#include <pollen/nn/distributions/categorical.hpp>
#include <pollen/nn/distributions/cauchy.hpp>
#include <pollen/nn/distributions/exponential.hpp>
#include <pollen/nn/distributions/gamma.hpp>
#include <pollen/nn/distributions/half_cauchy.hpp>
#include <pollen/nn/distributions/half_normal.hpp>
#include <pollen/nn/distributions/laplace.hpp>
#include <pollen/nn/distributions/log_normal.hpp>
#include <pollen/nn/distributions/mixture.hpp>
#include <pollen/nn/distributions/multivariate_normal.hpp>
#include <pollen/nn/distributions/normal.hpp>
#include <pollen/nn/distributions/own_density.hpp>
#include <pollen/nn/distributions/poisson.hpp>
#include <pollen/nn/distributions/student_t.hpp>
#include <pollen/nn/distributions/transform.hpp>
#include <pollen/nn/distributions/uniform.hpp>
