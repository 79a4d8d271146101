#pragma once

#include <pollen/samplers/run/run_chains.hpp>

#include <array>
#include <set>
#include <vector>

// All images of theta = (w, v): the hidden units in another order, and w and v of some of them negated. tanh is odd, so
// that v tanh(w x) stays what it is.
std::set<std::vector<double>> images(const std::vector<double>& theta);

// The plane of (w1, w2) has eight parts, the rivers, which are images of each other: two signs, and which of the two
// units is the steeper one.
struct Rivers {
    std::array<double, 8> share = {}, error = {};  // of the draws, with its standard error
    double of_a_chain = 0;                         // in how many a chain was, on average

    explicit Rivers(const pollen::Draws& draws);
};
