#pragma once

#include <pollen/autograd/tensor.hpp>

#include <string>

namespace pollen {

// pi N(0, sd1^2) + (1 - pi) N(0, sd2^2) (Blundell et al. 2015, Eq. 7), by log-sum-exp: no weight is too large for it.
struct ScaleMixturePrior {
    double pi = 0.5;
    double sd1 = 1;
    double sd2 = 0.0024787521766663585;  // exp(-6)

    template <Real T>
    double log_prob(const T* w, std::int64_t n) const;
    template <Real T>
    void slopes(const T* w, std::int64_t n, T* out) const;
    template <Real T>
    double descent(const T* w, std::int64_t n, T* out) const;
    void check() const;
    std::string describe() const;
};

}  // namespace pollen
