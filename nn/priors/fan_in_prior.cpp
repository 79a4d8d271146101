#include <pollen/nn/priors/fan_in_prior.hpp>

#include <pollen/nn/priors/detail/check_prior.hpp>

#include <cmath>

namespace pollen {

GaussianPrior FanInPrior::for_fans(Fans fans) const {
    return {scale / std::sqrt(static_cast<double>(fans.in > 0 ? fans.in : 1))};
}

void FanInPrior::check() const { check_width(*this, "scale", scale); }
std::string FanInPrior::describe() const { return call("FanInPrior", "scale " + to_text(scale)); }

}  // namespace pollen
