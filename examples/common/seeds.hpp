#pragma once

#include "figure.hpp"
#include "table.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

// What a method scored, under each name one number a seed.
struct Scores {
    std::string method;
    std::map<std::string, std::vector<double>> of = {};

    void add(const std::string& name, double score) { of[name].push_back(score); }
    // of[name] - other.of[other_name], seed by seed: what all methods share with a seed cancels.
    void add_difference(const std::string& difference, const std::string& name, const Scores& other,
                        const std::string& other_name);
};

double mean_of(std::span<const double> x);
// The mean and its standard error sd / sqrt(n).
Cell mean_cell(std::span<const double> x, int digits);

// A row for each method and a column for each name, with means over the seeds; empty where a method has none.
struct ScoreColumn {
    std::string name;
    int digits = 3;
};
ResultTable table_of(const std::vector<Scores>& methods, const std::vector<ScoreColumn>& columns);

// A row for each method that has this score: its mean with two standard errors, and a cross for each number. The key
// calls a cross "one seed", or what it is.
void draw_scores(Panel& panel, const std::vector<Scores>& methods, const std::string& name, const std::string& cross);
