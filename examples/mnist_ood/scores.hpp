#pragma once

#include "../common/seeds.hpp"
#include "../common/stage.hpp"
#include "task.hpp"

#include <pollen/nn/prediction/predictive.hpp>

#include <functional>
#include <string>
#include <vector>

struct Method {
    std::string name;
    std::function<Found(std::uint64_t seed)> run;
    std::vector<Found> found = {};  // one a seed
};

// The method that all others are compared with.
inline const std::string compared_with = "SGD, MAP";

// What is kept of predictions: p(y | x) for the digits, under "digits", and for each kind of strangers, under its word;
// and the mutual information, under "digits, information" and so on, if several networks predict.
Found found_of(const Task& task,
               const std::function<pollen::Predictive<float>(const pollen::Tensor<float>& images)>& predict);

// max_y p for each row of p: (images, classes).
std::vector<double> confidences(const pollen::Tensor<double>& p);

// All scores of all methods, and their differences seed by seed: `entropy - SGD` and `information - SGD` are the AUROC
// by each less that of SGD, MAP by entropy. The names of AUROCs and differences end with Task::suffix().
std::vector<Scores> scores_of(const Task& task, const std::vector<Method>& methods);
