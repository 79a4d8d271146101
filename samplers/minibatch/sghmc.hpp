#pragma once

#include <pollen/nn/training/schedule.hpp>
#include <pollen/samplers/chain.hpp>
#include <pollen/samplers/minibatch/control_variate.hpp>
#include <pollen/samplers/minibatch/gradient_noise.hpp>

namespace pollen {

// Stochastic-gradient Hamiltonian Monte Carlo with friction (Chen, Fox & Guestrin 2014, Eq. 15):
//
//     v = (1-a) v - h grad U~ + N(0, 2h (aT - b));  theta += v        b = h V / 2
//
// The noise of the gradient, of variance V, is part of the noise that balances the friction. So less is added: b is
// subtracted. Throws a ValueError if b > aT. v has the variance h T.
//
// In the warm-up an estimated V is not yet taken off.
struct Sghmc {
    Schedule step_size = 1e-4;  // h
    double friction = 0.1;      // a, above 0 and up to 1
    std::int64_t batch = 0;     // items drawn for each step; 0: all
    GradientNoise noise = 0.0;  // V: one number, one a dimension, or estimated; not given with a control variate
    ControlVariate control_variate = {};

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
};

}  // namespace pollen
