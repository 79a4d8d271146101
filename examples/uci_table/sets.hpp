#pragma once

#include <string>
#include <vector>

// A table of UCI.
struct UciSet {
    std::string name, path;
};

// The sets that come with pollen, and those in the directory `from` unless it is empty; all of them, or the one that is
// called `only`. Throws a FileError if the directory lacks a set, and a ValueError if no set has this name.
std::vector<UciSet> uci_sets(const std::string& from, const std::string& only);

// What others have reported of a set; NaN where they have not.
struct Published {
    std::string method;
    double rmse, nll;
};
std::vector<Published> published(const std::string& set);
