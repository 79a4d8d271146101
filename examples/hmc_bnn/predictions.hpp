#pragma once

#include "../common/stage.hpp"
#include "problem.hpp"

#include <pollen/nn/prediction/predictive.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <functional>
#include <string>

// What a method finds: the probabilities of the classes for the test digits, `test`, and for pictures of clothes,
// `clothes`, (n, 10) each. A sampler has its `temperature` beside them, and the standard error of that.
struct Method {
    std::string name;
    Found found;
    pollen::Tensor<double> reference;  // the probabilities of HMC on the test digits, which it is held against
};

Found predictions(const Problem& p, const std::function<pollen::Predictive<float>(const pollen::Tensor<float>&)>& of);

// Of all draws; the temperature is the mean of theta . grad U / d, which is 1 under exp(-U).
Found predictions(const Problem& p, const pollen::Draws& draws);

// The first chain of HMC alone, to be held against all the others.
Method one_chain(const Problem& p, const pollen::Draws& hmc);
