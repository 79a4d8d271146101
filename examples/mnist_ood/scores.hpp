#pragma once

#include "../common/seeds.hpp"
#include "../common/stage.hpp"

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

// What is kept of the predictions: p(y | x) for digits and strangers, and where they come from several networks the
// mutual information.
Found found_of(const pollen::Predictive<float>& digits, const pollen::Predictive<float>& strangers);

// max_y p for each row of p: (images, classes).
std::vector<double> confidences(const pollen::Tensor<double>& p);

// All scores of all methods, and their differences seed by seed: `entropy - SGD` and `information - SGD` are the AUROC
// by each less that of SGD, MAP by entropy. `word` is what the strangers are called.
std::vector<Scores> scores_of(const std::vector<Method>& methods, const pollen::Indices& labels,
                              const std::string& word);

// Which differences are more than chance, where there are several seeds.
void say_differences(const std::vector<Scores>& scores, const std::string& word);
