#pragma once

#include <pollen/nn/module/walk.hpp>

#include <utility>

namespace pollen {

// Gives every parameter of a layer, network or likelihood a prior of its own. train(), NetworkPotential and bayesian()
// go by it; parameters without one have the prior of their options.
template <class Tree>
void set_prior(Tree& tree, const Prior& prior) {
    each_parameter(tree, [&](const std::string&, auto& parameter) { parameter.prior = prior; });
}

// A layer with a prior of its own, for use in a list:
//
//     Sequential net{with_prior(Dense(784, 400), LaplacePrior{0.1}), Relu(), Dense(400, 10)};
template <class M>
M with_prior(M module, const Prior& prior) {
    set_prior(module, prior);
    return module;
}

}  // namespace pollen
