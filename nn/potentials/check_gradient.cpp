#include <pollen/nn/potentials/check_gradient.hpp>

#include <pollen/autograd/support/checks.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

template <Real T>
GradientCheck check_gradient(Potential<T>& potential, std::span<const T> theta, double step) {
    if (!(step > 0) || std::isinf(step))
        throw ValueError("check_gradient: step is " + to_text(step) + "; it must be positive and finite");
    std::vector<T> gradient(theta.size()), at(theta.begin(), theta.end());
    potential.evaluate(theta, gradient);
    GradientCheck worst;
    worst.error = -1;
    for (std::size_t k = 0; k < theta.size(); ++k) {
        const double x = static_cast<double>(theta[k]), h = step * std::max(1.0, std::abs(x));
        const T up = static_cast<T>(x + h), down = static_cast<T>(x - h);
        at[k] = up;
        const Energy above = potential.evaluate(at, {});
        at[k] = down;
        const Energy below = potential.evaluate(at, {});
        at[k] = theta[k];
        const double g = static_cast<double>(gradient[k]);
        const double rise = above.prior - below.prior + (above.likelihood - below.likelihood);
        const double slope = rise / (static_cast<double>(up) - static_cast<double>(down));
        const double error = std::abs(g - slope) / std::max({1.0, std::abs(g), std::abs(slope)});
        if (error <= worst.error) continue;
        const auto coordinate = static_cast<std::int64_t>(k);
        worst = {error, coordinate, potential.block_of(coordinate), g, slope};
        if (!std::isfinite(g) || !std::isfinite(slope)) {
            worst.error = std::nan("");
            break;
        }
    }
    return worst;
}

template GradientCheck check_gradient(Potential<float>&, std::span<const float>, double);
template GradientCheck check_gradient(Potential<double>&, std::span<const double>, double);

}  // namespace pollen
