#pragma once

#include <pollen/nn/priors/fans.hpp>
#include <pollen/nn/priors/gaussian_prior.hpp>

#include <string>

namespace pollen {

// N(0, scale^2 / fan_in): the outputs of a layer have about the size of its inputs, however wide it is (Neal 1996).
struct FanInPrior {
    double scale = 1;

    GaussianPrior for_fans(Fans fans) const;
    void check() const;
    std::string describe() const;
};

}  // namespace pollen
