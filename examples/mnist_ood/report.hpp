#pragma once

#include "../common/example.hpp"
#include "scores.hpp"

#include <string>
#include <vector>

// The tables: scores and confidences; entropies and mutual information; AUROCs and their differences, a table for each
// kind of strangers.
void show_scores(const Example& example, const Task& task, const std::vector<Scores>& scores);

// In words, if there are several seeds: how much less sure each method is than SGD, MAP, and which differences of
// AUROCs are more than chance.
void say_confidences(const Task& task, const std::vector<Scores>& scores);
void say_differences(const Task& task, const std::vector<Scores>& scores, const std::string& word);
