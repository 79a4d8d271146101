#pragma once

#include "../common/example.hpp"
#include "agent.hpp"

constexpr std::int64_t marks = 100;  // points of a curve

// Runs of one agent. Agents with the same seed are offered the same mushrooms with the same luck.
struct Setting {
    const Mushrooms& mushrooms;
    std::int64_t length, updates, runs;
    std::uint64_t first_seed;
};

// What happened in the runs of an agent.
struct Lives {
    std::string name;
    pollen::Tensor<double> regret;  // (runs, marks): so far
    pollen::Tensor<double> early;   // (runs): the share that is eaten of the first tenth
    pollen::Tensor<double>
        late;  // (runs, 3), of the last fifth: shares eaten of edible and poisonous ones, regret of one

    std::vector<double> at(std::int64_t mark) const;  // the regret of each run so far
    std::vector<double> regrets() const { return at(marks - 1); }
    std::vector<double> of_late(std::int64_t k, double factor) const;
};

// Runs side by side. What has happened is kept in a file after every piece of a run, and the same command goes on from
// there. Throws Interrupted on Ctrl-C.
Lives live_all(const Example& example, const Setting& setting, const Mind& mind);
