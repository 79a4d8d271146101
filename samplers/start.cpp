#include <pollen/samplers/chain.hpp>

#include <pollen/autograd/error.hpp>
#include <pollen/autograd/streams.hpp>
#include <pollen/nn/checks.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

Random random_of(std::uint64_t seed, std::uint32_t chain, std::int64_t step) {
    return Random(seed, stream_of(Purpose::chains, chain), static_cast<std::uint64_t>(step));
}

namespace {

// "tau, theta": the blocks whose gradient is not finite.
template <Real T>
std::string not_finite(const Potential<T>& potential, const std::vector<T>& gradient) {
    std::string names;
    for (const Quantity& block : potential.blocks()) {
        const auto first = gradient.begin() + block.offset;
        if (std::all_of(first, first + block.shape.size(), [](T g) { return std::isfinite(g); })) continue;
        names += (names.empty() ? "" : ", ") + block.name;
    }
    return names;
}

}  // namespace

template <Real T>
std::vector<T> find_start(Potential<T>& potential, std::uint64_t seed, std::uint32_t chain, double radius) {
    if (!(radius >= 0) || std::isinf(radius))
        throw ValueError("find_start: radius is " + to_text(radius) + "; it must be a number from 0 up");
    constexpr int attempts = 100;
    std::vector<T> theta(static_cast<std::size_t>(potential.size())), gradient(theta.size());
    Random random(seed, stream_of(Purpose::starts, chain));
    Energy energy;
    for (int k = 0; k < attempts; ++k) {
        if (radius > 0) random.fill_uniform(theta, static_cast<T>(-radius), static_cast<T>(radius));
        energy = potential.evaluate(theta, gradient);
        if (std::isfinite(energy.total()) && not_finite(potential, gradient).empty()) return theta;
    }
    const std::string what =
        "find_start: no starting point in " + std::to_string(attempts) + " attempts: at the last one ";
    if (!std::isfinite(energy.prior)) throw ValueError(what + "-log p(theta) is " + to_text(energy.prior));
    if (!std::isfinite(energy.likelihood))
        throw ValueError(what + "-log p(data | theta) is " + to_text(energy.likelihood));
    throw ValueError(what + "the gradient is not finite for " + not_finite(potential, gradient));
}

template std::vector<float> find_start(Potential<float>&, std::uint64_t, std::uint32_t, double);
template std::vector<double> find_start(Potential<double>&, std::uint64_t, std::uint32_t, double);

}  // namespace pollen
