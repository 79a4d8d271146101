#include <pollen/nn/distributions/detail/normal_law.hpp>

namespace pollen::distributions {

POLLEN_INSTANTIATE_DENSITY(Normal, 2, pathwise | divergence)

}  // namespace pollen::distributions
