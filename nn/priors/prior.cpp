#include <pollen/nn/priors/prior.hpp>

#include <pollen/autograd/support/error.hpp>

namespace pollen {

void Prior::fail() const {
    throw ValueError(text_ + (by_fans_ ? " is not the prior of a tensor yet: for_fans() makes it one"
                                       : " has no density of the weights alone: Bayes learns its tau with them"));
}

double Prior::plus(double a, double b) { return a + b; }

}  // namespace pollen
