#include <pollen/samplers/start.hpp>

#include <pollen/autograd/streams.hpp>
#include <pollen/autograd/support/checks.hpp>
#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/options.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

template <class Wanted>
std::string names_of(const std::vector<Quantity>& blocks, const Wanted& wanted) {
    std::string names;
    for (const Quantity& block : blocks)
        if (wanted(block)) names += (names.empty() ? "" : ", ") + block.name;
    return names;
}

// "tau, theta": the blocks whose gradient is not finite.
template <Real T>
std::string not_finite(const Potential<T>& potential, const std::vector<T>& gradient) {
    return names_of(potential.blocks(), [&](const Quantity& block) {
        const auto first = gradient.begin() + block.offset;
        return !std::all_of(first, first + block.shape.size(), [](T g) { return std::isfinite(g); });
    });
}

}  // namespace

template <Real T>
std::string blocks_to_blame(Potential<T>& potential, const std::vector<T>& theta) {
    std::string names = names_of(potential.blocks(), [&](const Quantity& block) {
        std::vector<T> without = theta;
        std::fill_n(without.begin() + block.offset, block.shape.size(), T(0));
        return std::isfinite(potential.evaluate(without, {}).total());
    });
    if (names.empty()) {
        std::vector<T> gradient(theta.size());
        potential.evaluate(theta, gradient);
        names = not_finite(potential, gradient);
    }
    return names.empty() ? names_of(potential.blocks(), [](const Quantity&) { return true; }) : names;
}

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
    std::string why = potential.refusal();
    if (!why.empty())
        why = "there is no density: " + why;
    else if (!std::isfinite(energy.prior))
        why = "-log p(theta) is " + to_text(energy.prior);
    else if (!std::isfinite(energy.likelihood))
        why = "-log p(data | theta) is " + to_text(energy.likelihood);
    else
        why = "the gradient is not finite";
    throw ValueError(
        "find_start: no starting point in " + std::to_string(attempts) + " attempts: at the last one " + why +
        "; look at " +
        (std::isfinite(energy.total()) ? not_finite(potential, gradient) : blocks_to_blame(potential, theta)));
}

template <Real T>
void check_start(const std::string& sampler, const Potential<T>* potential, const ChainStart<T>& start) {
    if (!potential) throw ValueError(sampler + ": there is no potential");
    if (potential->size() < 1) throw ValueError(sampler + ": the potential has no dimensions");
    if (std::ssize(start.position) != potential->size())
        throw ShapeError(sampler + ": the start has " + std::to_string(start.position.size()) +
                         " numbers; the potential has " + std::to_string(potential->size()));
    check_option(start.warmup >= 0, sampler, "warmup", to_text(start.warmup), "not be negative");
}

template void check_start(const std::string&, const Potential<float>*, const ChainStart<float>&);
template void check_start(const std::string&, const Potential<double>*, const ChainStart<double>&);
template std::string blocks_to_blame(Potential<float>&, const std::vector<float>&);
template std::string blocks_to_blame(Potential<double>&, const std::vector<double>&);
template std::vector<float> find_start(Potential<float>&, std::uint64_t, std::uint32_t, double);
template std::vector<double> find_start(Potential<double>&, std::uint64_t, std::uint32_t, double);

}  // namespace pollen
