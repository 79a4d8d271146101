#pragma once

#include <pollen/autograd/tensor.hpp>

#include <string>

namespace pollen {

// Student's t with nu degrees of freedom, about 0.
struct StudentTPrior {
    double nu = 4;
    double scale = 1;

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
