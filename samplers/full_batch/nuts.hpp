#pragma once

#include <pollen/samplers/adaptation/metric.hpp>
#include <pollen/samplers/adaptation/warmup.hpp>
#include <pollen/samplers/chain.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pollen {

// The no-U-turn sampler (Hoffman & Gelman, The No-U-Turn sampler, 2014) as Stan has it now: multinomial weights and the
// generalised criterion of Betancourt (A conceptual introduction to Hamiltonian Monte Carlo, 2017, A.3 and A.4.2), also
// across the seam of the two halves of every tree.
//
// StepStatistics are those of Stan: acceptance is accept_stat, step_size, tree_depth, gradients is n_leapfrog,
// divergent, and hamiltonian is energy.
struct Nuts {
    double step_size = 1;  // if a warm-up adapts it: where its search begins
    std::int64_t max_depth = 10;
    double target_acceptance = 0.8;
    double max_error = 1000;  // a trajectory with a greater error of H is divergent
    MetricKind metric = MetricKind::diagonal;
    std::vector<double> inverse_metric = {};  // M^-1 to begin with: a diagonal, or a matrix; empty: 1
    WarmupOptions warmup = {};

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
    double state_bytes(std::int64_t size, std::size_t number) const;
};

}  // namespace pollen
