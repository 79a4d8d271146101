#pragma once

#include "../common/example.hpp"
#include "scores.hpp"

// Histograms of the confidence in digits and in strangers, a panel for each method, with the images of all seeds.
void draw_confidences(const Example& example, const Task& task, const std::vector<Method>& methods,
                      const std::string& word);

// How much better than SGD each method tells strangers from digits: means over seeds, and the seeds.
void draw_differences(const Example& example, const Task& task, const std::vector<Scores>& scores,
                      const std::string& word);
