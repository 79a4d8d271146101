#pragma once

#include <pollen/nn/potentials/potential.hpp>

#include <cmath>

// What samplers with a Metropolis step share.
namespace pollen::detail {

// U(a) - U(b), the parts apart: each is a small difference of large numbers.
inline double difference(const Energy& a, const Energy& b) {
    return (a.prior - b.prior) + (a.likelihood - b.likelihood);
}

// min(1, exp(-x)), and 0 for NaN.
inline double acceptance_of(double x) { return x <= 0 ? 1 : x > 0 ? std::exp(-x) : 0; }

}  // namespace pollen::detail
