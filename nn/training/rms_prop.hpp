#pragma once

#include <pollen/nn/training/optimiser.hpp>

namespace pollen {

// v = alpha v + (1 - alpha) g^2        theta -= rate g / (sqrt(v) + epsilon)        (Tieleman & Hinton 2012)
struct RmsProp {
    Schedule rate = 0.001;
    double alpha = 0.99;
    double epsilon = 1e-8;

    static constexpr int memories = 1;
    void check() const;
    template <Real T>
    void update(const UpdateStep& now, const Stretch<T>& at) const;
    std::string describe() const;
};

}  // namespace pollen
