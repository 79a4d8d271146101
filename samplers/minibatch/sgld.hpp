#pragma once

#include <pollen/nn/training/schedule.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/minibatch/control_variate.hpp>

namespace pollen {

// Stochastic-gradient Langevin dynamics (Welling & Teh 2011, Eq. 4):
//
//     theta -= e_t/2 grad U~;  theta += N(0, e_t T)
//
// With a step that shrinks (sum e_t infinite, sum e_t^2 finite) averages weighted by weight() converge to those of
// exp(-U / T). A constant step has another stationary distribution: on a Gaussian of precision L, with
// a = e L / 2 and gradient noise of variance V, its variance is (e T + e^2 V / 4) / (2a - a^2) instead of T / L.
struct Sgld {
    Schedule step_size = 1e-3;  // e_t
    std::int64_t batch = 0;     // items drawn for each step; 0: all
    ControlVariate control_variate = {};

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
};

}  // namespace pollen
