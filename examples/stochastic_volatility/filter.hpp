#pragma once

#include <pollen/autograd/tape.hpp>

// An op that the library does not have: y_i = phi y_{i-1} + x_i, with y = 0 before the first. phi is one number, or one
// for each i.
pollen::Var<double> filter(pollen::Var<double> x, pollen::Var<double> phi);
