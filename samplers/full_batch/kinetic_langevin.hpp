#pragma once

#include <pollen/samplers/adaptation/metric.hpp>
#include <pollen/samplers/chain.hpp>

#include <memory>
#include <string>
#include <vector>

namespace pollen {

// Kinetic (underdamped) Langevin dynamics,
//
//     dq = M^-1 p dt,    dp = -grad U dt - c p dt + N(0, 2 c T M dt)
//
// c the friction, by the splitting BAOAB (Leimkuhler & Matthews, Rational construction of stochastic numerical methods
// for molecular sampling, 2013):
//
//     B  p -= h/2 grad U      A  q += h/2 M^-1 p      O  p = f p + N(0, (1 - f^2) T M), f = exp(-c h)      A      B
//
// There is no acceptance: the law of q is wrong by O(h^2) in general, but exact for a normal distribution, at any
// stable step (h < 2 / the greatest frequency). An infinite friction is allowed. It is the overdamped limit, with h^2
// in the place of e: the Euler step of  dq = -grad U/2 dt + N(0, T dt),  but for the noise, which is averaged over two
// steps and makes all the difference:
//
//     q_{t+1} = q_t - h^2/2 M^-1 grad U(q_t) + h/2 (r_t + r_{t+1}),    r ~ N(0, T M^-1)
struct KineticLangevin {
    double step_size = 0.1;  // h
    double friction = 1;     // c
    MetricKind metric = MetricKind::unit;
    std::vector<double> inverse_metric = {};  // M^-1: a diagonal, or a matrix; empty: 1

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
    double state_bytes(std::int64_t size, std::size_t number) const;
};

}  // namespace pollen
