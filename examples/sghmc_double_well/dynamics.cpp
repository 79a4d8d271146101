#include "dynamics.hpp"

#include <algorithm>
#include <cmath>

using namespace pollen;

Dynamics::Path Dynamics::path(Potential<double>& potential, std::int64_t steps, Random random) const {
    const double noise = std::sqrt(2 * std::max(0.0, friction - variance * dt / 2) * dt);
    Path path;
    double x = 0, r = 1, slope = 0;
    for (std::int64_t step = 1; step <= steps; ++step) {
        const std::int64_t item = random.below(static_cast<std::uint64_t>(potential.items()));
        if (variance > 0)
            potential.evaluate({&x, 1}, {&slope, 1}, {&item, 1});
        else
            potential.evaluate({&x, 1}, {&slope, 1});
        r += -slope * dt - friction * r * dt + noise * random.normal();
        if (fresh_every > 0 && step % fresh_every == 0) r = random.normal();
        x += r * dt;
        path.x.push_back(x);
        path.r.push_back(r);
    }
    return path;
}
