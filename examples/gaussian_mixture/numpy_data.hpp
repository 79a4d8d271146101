#pragma once

#include <vector>

// The 100 numbers of the repetition, from NumPy's random numbers with the seed 3. About half of them come from
// N(0, 1.6^2), the others from N(1, 1.6^2): the variance is greater than the 2 of the model, to have two modes at all.
std::vector<double> numpy_data();
