#pragma once

#include "../common/example.hpp"
#include "../common/stage.hpp"
#include "task.hpp"

#include <pollen/samplers/draws/draws.hpp>

// Mean confidences by four averages over the draws of a network: of probabilities or of their logarithms, over the
// same images or over other ones in every draw. One tensor for the digits, under "digits, averages", and one for each
// kind of strangers.
Found averages(const Task& task, const pollen::Draws& draws);

// A table of them.
void show_slips(const Example& example, const Task& task, const Found& sgld);
