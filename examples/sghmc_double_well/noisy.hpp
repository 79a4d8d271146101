#pragma once

#include <pollen/nn/potentials/function_potential.hpp>

#include <cstdint>

// A potential of your own: any U with its slope, and noise in the gradients of batches. It acts as if there were N
// items of data, of which item k says U(x) / N + c_k x. The c_k add up to 0, so that all items together say U; a batch
// of one has the gradient dU/dx + N c_k, and N c_k is normal with the variance that was asked for.
pollen::FunctionPotential<double> noisy(std::int64_t size, double variance,
                                        pollen::FunctionPotential<double>::Function f);
