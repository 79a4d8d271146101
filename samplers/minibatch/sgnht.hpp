#pragma once

#include <pollen/nn/training/schedule.hpp>
#include <pollen/samplers/chain.hpp>

namespace pollen {

// The stochastic-gradient Nose-Hoover thermostat (Ding et al., Bayesian sampling using stochastic gradient thermostats,
// 2014, Algorithm 2), in the units of SGHMC:
//
//     v = (1-x) v - h grad U~ + N(0, 2h a T);  theta += v;  x += (v.v / d - h T) / m
//
// The friction x changes until the momenta have the temperature T. So it makes up for the noise V of the gradient,
// which need not be known: its mean is about a + h V / (2T). In the long run the kinetic temperature is exactly T, at
// any step size.
struct Sgnht {
    Schedule step_size = 1e-4;  // h
    double friction = 0.1;      // a, of the noise that is added, and what x begins with
    double mass = 1;            // m, the inertia of the thermostat
    std::int64_t batch = 0;     // items drawn for each step; 0: all

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
};

}  // namespace pollen
