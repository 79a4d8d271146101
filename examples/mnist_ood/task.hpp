#pragma once

#include "../common/example.hpp"

#include <pollen/autograd/support/progress.hpp>
#include <pollen/data/sets/dataset.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/potentials/network_potential.hpp>

#include <cstdint>
#include <string>
#include <vector>

constexpr std::int64_t batch = 100;

// Sizes that the command line can give.
struct Sizes {
    std::int64_t seeds = 5;
    std::int64_t point_steps = 3000;    // of training for a network
    std::int64_t sampler_steps = 8000;  // of a chain; Bayes by Backprop has half as many
    std::int64_t draws = 100;           // of a chain
};

// What is chosen for a network. Rates are those of steps on the mean loss.
struct Settings {
    double initial_sd, bbb_rate;  // of Bayes by Backprop
    double sgld_rate, sghmc_rate;
    std::int64_t samples;  // for predictions of MC dropout and Bayes by Backprop
};

// Pictures that are no digits. `word` is their name in tables and figures: clothes or letters.
struct Strangers {
    std::string word;
    pollen::Dataset<float> data;
};

// The network and what belongs to it: digits to learn from, and digits and strangers to be asked about.
struct Task {
    bool published = false;  // the network is that of the published code
    Sizes sizes = {};
    Settings settings = {};
    pollen::Dataset<float> train_data = {}, digits = {};
    std::vector<Strangers> strangers = {};
    pollen::Show show = pollen::Show::automatic;

    // Its weights have the prior N(0, 0.2^2). In the published network it is N(0, 4.5/n) for a layer whose units have n
    // inputs each: 1.5 times as wide as the law of the initial weights.
    pollen::Sequential<float> network(double dropout = 0) const;
    pollen::Sequential<float> network_without_prior() const;
    // U = -sum_i log p(y_i | x_i, theta) - log p(theta)
    pollen::NetworkPotential<float> potential() const;

    // How many passes through the training data make this many steps.
    std::int64_t epochs(std::int64_t steps) const;
    // The rate of a step on the mean loss in the units of the samplers: e = 2 rate / N, h = rate / N.
    double per_item(double rate) const;

    // mnist_ood_WHAT, with the word for the strangers if there are two kinds, and _full for the published network.
    std::string file_name(std::string what = "", const std::string& word = "") const;
    // Of scores: ", WORD" if there are two kinds of strangers.
    std::string suffix(const std::string& word) const;
};

struct Choice {
    std::string network = "small", strangers = "fashion-mnist";
    bool validation = false;  // score a sixth of the training digits instead of the test digits, without strangers
};

// Reads the data. With --quick there are a few hundred images of each kind. Throws a ValueError for a choice that does
// not exist, and a FileError for data that are not there.
Task read_task(Example& example, const Choice& choice, const Sizes& sizes);
