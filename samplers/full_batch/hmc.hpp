#pragma once

#include <pollen/samplers/adaptation/metric.hpp>
#include <pollen/samplers/adaptation/warmup.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/full_batch/uniform_range.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pollen {

// Hamiltonian Monte Carlo (Neal, MCMC using Hamiltonian dynamics, 2011), on H = U/T + p' M^-1 p / 2: a fresh momentum,
// a number of leapfrog steps, and acceptance with probability min(1, exp(H - H*)).
//
//     Hmc{.step_size = 0.1, .steps = 20}                     // always 20 steps
//     Hmc{.steps = {10, 30}, .metric = MetricKind::dense}    // from 10 to 30, each time anew
//     Hmc{.time = {1, 5}}                                    // time / step_size steps, at most max_steps
//
// With refreshment alpha > 0 the momentum is kept in part (Horowitz, A generalized guided Monte Carlo algorithm, 1991),
//
//     p' = alpha p + sqrt(1 - alpha^2) r,    r ~ N(0, M)
//
// and its sign changes when a proposal is rejected: without that, exp(-H) would not be left invariant.
struct Hmc {
    double step_size = 1;                  // if a warm-up adapts it: where its search begins
    UniformRange<std::int64_t> steps = 0;  // 0: as many as take `time`
    UniformRange<double> time = {1, 5};    // of a trajectory: its number of steps times the step size
    std::int64_t max_steps = 1000;
    double alpha = 0;
    double target_acceptance = 0.8;
    MetricKind metric = MetricKind::diagonal;
    std::vector<double> inverse_metric = {};  // M^-1 to begin with: a diagonal, or a matrix; empty: 1
    WarmupOptions warmup = {};

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
    double state_bytes(std::int64_t size, std::size_t number) const;
};

}  // namespace pollen
