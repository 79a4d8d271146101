#pragma once

#include "../common/figure.hpp"
#include "../common/table.hpp"
#include "predictions.hpp"

#include <vector>

// How near to HMC the methods come on the test digits, with standard errors from digit to digit:
//
//     agreement        the share of test digits for which both find the same class most probable
//     total variation  1/2 sum_c |p(c) - q(c)|, the mean over the test digits
ResultTable table_of_methods(const std::vector<Method>& methods, const pollen::Indices& labels);

// The entropies of the predictions, and how well they tell clothes from digits.
ResultTable table_of_clothes(const std::vector<Method>& methods);

// In words: the total variation of each method, in units of that of one chain of HMC.
void say_distances(const std::vector<Method>& methods, const pollen::Indices& labels);

// Three panels: total variation, -log p of the right class, entropies of clothes.
void draw_comparison(Figure& figure, const std::vector<Method>& methods, const pollen::Indices& labels);
