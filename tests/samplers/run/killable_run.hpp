#pragma once

#include "../../data/fuse.hpp"
#include "run_files.hpp"
#include "walk_sampler.hpp"

#include <pollen/nn/distributions.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/minibatch/sghmc.hpp>
#include <pollen/samplers/run/run_chains.hpp>

// A short run with files that can be ended at any evaluation of its model or call of the file system.
namespace pollen::test {

inline constexpr int chains = 4;

inline RunOptions quiet(const std::string& directory) {
    return {.chains = chains,
            .warmup = 40,
            .draws = 30,
            .thin = 2,
            .seed = 11,
            .directory = directory,
            .flush_every = 6,
            .save_warmup = true,
            .show = Show::nothing};
}

enum class Kind { walk, nuts, sghmc };

inline Draws run(const RunOptions& options, Kind kind) {
    const Tensor<double> y{28, 8, -3, 7, -1, 1, 18, 12}, sigma{15, 10, 16, 11, 9, 11, 10, 18};
    const auto count = [] {
        if (fuse.evaluations++ == fuse.evaluation) burn();
    };
    if (kind != Kind::nuts) {
        const ModelPotential<float> model([=](Model<float>& m) {
            count();
            const auto x = m.real("x", {3, 2});
            m.prior(sum(square(x)) * -0.5);
        });
        if (kind == Kind::sghmc) return run_chains(model, Sghmc{.step_size = 0.01, .friction = 0.1}, options);
        return run_chains(model, Walk{.weight = 2}, options);
    }
    return run_chains(ModelPotential<double>([=](Model<double>& m) {
                          count();
                          const auto mu = m.real("mu"), tau = m.positive("tau"), z = m.real("z", {8});
                          m.prior(normal_lpdf(mu, 0, 5));
                          m.prior(half_cauchy_lpdf(tau, 5));
                          m.prior(normal_lpdf(z, 0, 1));
                          m.likelihood(normal_lpdf(y, m.quantity("theta", mu + tau * z), sigma));
                      }),
                      Nuts{}, options);
}
inline Draws run(const RunOptions& options, bool nuts) { return run(options, nuts ? Kind::nuts : Kind::walk); }

}  // namespace pollen::test
