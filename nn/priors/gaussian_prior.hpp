#pragma once

#include <pollen/autograd/tensor.hpp>

#include <string>

namespace pollen {

// N(0, sd^2)
struct GaussianPrior {
    double sd = 1;

    template <Real T>
    double log_prob(const T* w, std::int64_t n) const;
    template <Real T>
    void slopes(const T* w, std::int64_t n, T* out) const;
    template <Real T>
    double descent(const T* w, std::int64_t n, T* out) const;
    double gaussian_sd() const { return sd; }
    void check() const;
    std::string describe() const;
};

}  // namespace pollen
