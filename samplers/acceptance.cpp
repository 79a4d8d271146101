#include <pollen/autograd/math.hpp>
#include <pollen/samplers/acceptance.hpp>

namespace pollen {

double energy_difference(const Energy& a, const Energy& b) {
    return (a.prior - b.prior) + (a.likelihood - b.likelihood);
}

double acceptance_probability(double rise) { return rise <= 0 ? 1 : rise > 0 ? math::exp(-rise) : 0; }

double random_walk_target(std::int64_t dimensions) { return 0.234 + 0.206 / static_cast<double>(dimensions); }

}  // namespace pollen
