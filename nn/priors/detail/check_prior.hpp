#pragma once

#include <pollen/autograd/support/checks.hpp>

#include <cmath>

// What the priors check. A prior's description is part of the error.
namespace pollen {

// The least width of a prior: 1 / width^2 must be a float.
inline constexpr double least_prior_width = 1e-19;

template <class P>
void check_positive(const P& prior, const char* name, double x) {
    if (!(x > 0 && std::isfinite(x))) throw ValueError(prior.describe() + ": " + name + " must be positive and finite");
}
template <class P>
void check_width(const P& prior, const char* name, double x) {
    check_positive(prior, name, x);
    if (x < least_prior_width)
        throw ValueError(prior.describe() + ": " + name + " must be at least " + to_text(least_prior_width));
}

}  // namespace pollen
