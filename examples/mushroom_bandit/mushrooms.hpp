#pragma once

#include <cstdint>
#include <vector>

// The data set Mushroom of the UCI Machine Learning Repository: 8,124 descriptions.
struct Mushrooms {
    std::vector<std::vector<float>> features;  // 22 attributes, each a 1 at its value and 0 elsewhere
    std::vector<bool> edible;

    std::int64_t width() const { return static_cast<std::int64_t>(features[0].size()); }
    double share_edible() const;
};
Mushrooms read_mushrooms();

// Rewards of eating, in points. A poisonous mushroom tastes well with probability 1/2. Not to eat has 0.
constexpr double pleasure = 5, poisoning = -35;
// What a choice costs on average, if it is the wrong one.
constexpr double regret_of_leaving = 5, regret_of_poison = 15;
