#pragma once

#include <string>

namespace pollen {

// No prior: log p(w) = 0 for every w. Its integral is infinite, so it is no distribution; the likelihood alone decides.
struct FlatPrior {
    double log_prob(double) const { return 0; }
    double slope(double) const { return 0; }
    std::string describe() const { return "FlatPrior"; }
};

}  // namespace pollen
