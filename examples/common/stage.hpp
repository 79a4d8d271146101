#pragma once

#include "example.hpp"

#include <pollen/autograd/tensor.hpp>

#include <functional>
#include <map>
#include <string>

// The numbers that a stage of an example found.
using Found = std::map<std::string, pollen::Tensor<double>>;

// A long example is cut into stages. What a stage found is kept in a file; an example that was stopped, and is started
// again, takes it from there and goes on with the next one; the stage that was stopped begins anew. Says how long the
// stage took.
Found stage(const Example& example, const std::string& name, const std::function<Found()>& work);
