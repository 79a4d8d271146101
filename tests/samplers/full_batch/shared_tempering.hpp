#pragma once

#include "../run/rank_runs.hpp"

#include <pollen/samplers/full_batch/tempering.hpp>

#include <functional>

// Runs of Tempering whose rungs are shared by the ranks of a group.
namespace pollen::test {

inline constexpr int pair = 2;  // chains

// A scale of two modes, refused where it is small, and a parameter with a bound. `look` is called with theta at each
// evaluation.
template <Real T>
ModelPotential<T> tempered_model(std::function<void(double)> look = {}, double centre = 3) {
    return ModelPotential<T>([=](Model<T>& m) {
        if (fuse.evaluations++ == fuse.evaluation) burn();
        const auto x = m.real("x"), s = m.positive("s");
        const double at = static_cast<double>(x.item());
        if (look) look(at);
        if (at > 3) throw DomainError("x is large");
        m.prior(square(square(x) - static_cast<T>(centre)) * T(-0.5));
        m.prior(half_cauchy_lpdf(s, 1));
        m.quantity("x_plus_s", x + s);
    });
}

// Five rungs, so that shares differ and seven ranks are too many.
inline Tempering five_rungs(Tempering::Kernel kernel, Group* group = nullptr) {
    return {.temperatures = {1, 2, 4, 8, 16}, .kernel = kernel, .steps = {2, 5}, .group = group};
}

inline RunOptions pair_of_chains(const std::string& directory) {
    RunOptions options = quiet(directory);
    options.chains = pair;
    options.resume = !directory.empty();
    options.save_warmup = !directory.empty();
    return options;
}

}  // namespace pollen::test
