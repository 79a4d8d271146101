#pragma once

#include <pollen/autograd/tensor.hpp>

#include <string>

namespace pollen {

// exp(-|w| / scale) / (2 scale)
struct LaplacePrior {
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
