#include <pollen/nn/distributions/detail/laplace_law.hpp>

namespace pollen::distributions {

POLLEN_INSTANTIATE_DENSITY(Laplace, 2, pathwise | divergence)

}  // namespace pollen::distributions
