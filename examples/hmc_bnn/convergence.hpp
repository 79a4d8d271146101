#pragma once

#include "../common/figure.hpp"
#include "../common/table.hpp"
#include "problem.hpp"

#include <pollen/samplers/run/run_chains.hpp>

// R-hat of the weights and of what the network computes, over the chains of HMC: the probabilities of all classes for
// 200 test digits. Weights are not identified: hidden units can change places and signs, and a chain stays at one of
// the many mirror images of a mode. What the network computes is the same at all of them. Draws three panels.
ResultTable show_convergence(const Problem& p, const pollen::Draws& hmc, Figure& figure);

// The share of the values below each of them, as a line.
enum class Line { plain, dashed };
void draw_share(Panel& panel, const std::string& name, std::vector<double> values, Line line = Line::plain);
