#pragma once

#include "../common/example.hpp"
#include "../common/stage.hpp"

#include <pollen/samplers/draws/draws.hpp>

// Mean confidences by four averages over the draws of a network: of probabilities or of their logarithms, over the
// same images or over other ones in every draw.
pollen::Tensor<double> averages(const pollen::Draws& draws, const pollen::Tensor<float>& images);

// A table of them: `digits_averages` and `strangers_averages` of what SGLD found.
void show_slips(const Example& example, const Found& sgld, const std::string& word);
