#pragma once

#include <pollen/samplers/adaptation/metric.hpp>
#include <pollen/samplers/adaptation/warmup.hpp>
#include <pollen/samplers/chain.hpp>

#include <memory>
#include <string>
#include <vector>

namespace pollen {

// Langevin Monte Carlo with acceptance, or MALA (Roberts & Tweedie, Exponential convergence of Langevin distributions,
// 1996). With G = M^-1 (the identity at first),
//
//     theta* = theta - e/2 G grad U(theta) + N(0, e T G)
//     a = min(1, exp((U(theta) - U(theta*)) / T) q(theta | theta*) / q(theta* | theta)),    q the density of a proposal
//
// It is Hamiltonian Monte Carlo with one leapfrog step of size sqrt(e T).
struct Mala {
    double step_size = 0.1;  // e; if a warm-up adapts it: where its search begins
    double target_acceptance = 0.574;
    MetricKind metric = MetricKind::diagonal;
    std::vector<double> inverse_metric = {};  // G to begin with: a diagonal, or a matrix; empty: 1
    WarmupOptions warmup = {};

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
    double state_bytes(std::int64_t size, std::size_t number) const;
};

}  // namespace pollen
