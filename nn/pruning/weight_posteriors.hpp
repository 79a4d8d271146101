#pragma once

#include <pollen/nn/module/module.hpp>
#include <pollen/nn/pruning/prune.hpp>

#include <vector>

namespace pollen {

// The means and standard deviations of all weights of the Bayesian layers of a network, for prune().
template <Real T>
std::vector<WeightPosterior<T>> weight_posteriors(const Module<T>& net);

// Sets the means of the named tensors to those that pruning left, with zeros where a weight was removed; mean_network()
// and compress() then make a small network of it.
template <Real T>
void set_means(Module<T>& net, const std::vector<PrunedTensor<T>>& pruned);

}  // namespace pollen
