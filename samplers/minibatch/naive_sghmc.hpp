#pragma once

#include <pollen/samplers/chain.hpp>

namespace pollen {

// Naive stochastic-gradient HMC (Chen, Fox & Guestrin 2014, Section 3.1), for teaching: leapfrog steps along gradients
// of batches, without the friction that would take up their noise.
//
//     v ~ N(0, h T);  L times  v -= h/2 grad U~;  theta += v;  v -= h/2 grad U~
//
// The gradient at the end of a leapfrog step is that at the beginning of the next one, on the same batch; each place
// has a batch of its own. The noise heats the chain up: its law is not exp(-U / T), and the more wrong the longer the
// trajectory. The Metropolis correction, with U over all items, makes it exact (backwards the same batches, in reverse
// order, are as likely) at the cost of many rejections and of a pass over the data.
struct NaiveSghmc {
    double step_size = 1e-3;   // h
    std::int64_t length = 10;  // L
    std::int64_t batch = 0;    // items drawn for each gradient; 0: all
    bool metropolis = false;

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
};

}  // namespace pollen
