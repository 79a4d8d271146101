#pragma once

#include <cstdint>

namespace pollen {

// Gradients of batches with less noise: with an anchor theta' whose full gradient is known,
//
//     g(theta) = grad U(theta') + grad U~(theta) - grad U~(theta')        both U~ on the same batch
//
// (SVRG; Johnson and Zhang 2013, for samplers Dubey et al., Variance reduction in stochastic gradient Langevin
// dynamics, 2016). It has the mean grad U(theta), and the less noise the nearer theta is to the anchor. A step costs
// two gradients of a batch, a new anchor one of all items.
struct ControlVariate {
    std::int64_t every = 0;  // steps from one anchor to the next, the present position; 0: no control variate
};

}  // namespace pollen
