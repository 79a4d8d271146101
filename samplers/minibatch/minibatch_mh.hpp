#pragma once

#include <pollen/samplers/chain.hpp>

namespace pollen {

// Langevin Monte Carlo whose Metropolis step looks at a batch only: practical, and approximate. With one batch a step,
//
//     theta* = theta - e/2 grad U~(theta) + N(0, e T)
//     a = min(1, exp(-(U~(theta*) - U~(theta)) / T) q(theta | theta*) / q(theta* | theta))
//
// For its batch a step is exact, but its batch is another one each time: the law is not exp(-U / T), unless the batch
// is all items. Beware of three slips when comparing with texts on it: a is a minimum, not a maximum; drift eta with
// noise of variance eta is T = 1/2 (eta = e/2); and U~ has the factor N/n in front of the sum over the batch.
struct ApproximateMinibatchMala {
    double step_size = 1e-3;  // e
    std::int64_t batch = 0;   // items drawn for each step; 0: all, and the sampler is exact

    template <Real T>
    std::unique_ptr<Chain<T>> begin(std::unique_ptr<Potential<T>> potential, ChainStart<T> start) const;
    std::string describe() const;
};

}  // namespace pollen
