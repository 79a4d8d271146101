#pragma once

#include <pollen/nn/training/schedule.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/minibatch/preconditioner.hpp>

namespace pollen {

// Preconditioned SGLD (Li et al., Preconditioned stochastic gradient Langevin dynamics for deep neural networks, 2016;
// stochastic-gradient Riemannian Langevin dynamics, Patterson & Teh 2013):
//
//     theta -= e_t/2 (G grad U~ - T Gamma);  theta += N(0, e_t T G)        Gamma_i = sum_j dG_ij / dtheta_j
//
// A G that depends on theta needs its Gamma: without it the law is another one, in one dimension exp(-U / T) / G.
struct Psgld {
    Schedule step_size = 1e-3;  // e_t
    std::int64_t batch = 0;     // items drawn for each step; 0: all
    Preconditioner preconditioner = Preconditioner::rmsprop();

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
};

}  // namespace pollen
