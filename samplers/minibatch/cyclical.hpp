#pragma once

#include <pollen/samplers/chain.hpp>

namespace pollen {

// Cyclical stochastic-gradient MCMC (Zhang et al., Cyclical stochastic gradient MCMC for Bayesian deep learning, 2020,
// Algorithm 1). The step falls along a cosine and starts large again, so that each cycle can find another mode:
//
//     e_t = e_0 / 2 (cos(pi r) + 1),  r = (t mod c) / c,  c = ceil(steps / cycles)
//
// While r < exploration there is no noise (SGD, or momentum); after that it is SGLD, or SGHMC. weight() is e_{t+1} for
// the positions that a sampling step came to and another one of the same cycle will leave, and 0 for all the others. A
// run whose draws would all have weight 0 does not begin.
struct Cyclical {
    enum class Dynamics { langevin, hamiltonian };

    double step_size = 1e-3;    // e_0, or h_0 of SGHMC
    std::int64_t steps = 1000;  // of all cycles; a chain that goes on starts another cycle
    std::int64_t cycles = 4;
    double exploration = 0.8;
    Dynamics dynamics = Dynamics::langevin;
    double friction = 0.1;   // of SGHMC
    std::int64_t batch = 0;  // items drawn for each step; 0: all

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
};

}  // namespace pollen
