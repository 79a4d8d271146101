#include "sets.hpp"

#include <pollen/data/io/file.hpp>
#include <pollen/data/sets/embedded.hpp>

#include <filesystem>
#include <limits>
#include <map>

using namespace pollen;

namespace {

// DIRECTORY/NAME.txt, plain or gzipped.
std::string file_in(const std::string& directory, const std::string& name) {
    for (const char* ending : {".txt", ".txt.gz"})
        if (std::filesystem::path path = std::filesystem::path(directory) / (name + ending); exists(path)) return path;
    throw FileError(directory + ": has neither " + name + ".txt nor " + name + ".txt.gz, which --from needs");
}

}  // namespace

std::vector<UciSet> uci_sets(const std::string& from, const std::string& only) {
    std::vector<UciSet> sets{{"yacht", embedded_data("uci/yacht.txt.gz")},
                             {"energy", embedded_data("uci/energy.txt.gz")},
                             {"concrete", embedded_data("uci/concrete.txt.gz")},
                             {"red wine", embedded_data("uci/wine-quality-red.txt.gz")}};
    if (!from.empty()) {
        sets.push_back({"kin8nm", file_in(from, "kin8nm")});
        sets.push_back({"power plant", file_in(from, "power-plant")});
    }
    if (only.empty()) return sets;
    std::string names;
    for (const UciSet& set : sets) {
        if (set.name == only) return {set};
        names += (names.empty() ? "" : ", ") + set.name;
    }
    throw ValueError("--only is " + only + "; the sets are " + names);
}

std::vector<Published> published(const std::string& set) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    // PBP, MC dropout, the same with ten times the epochs, ensembles; VI
    struct Row {
        double rmse[4], nll[4], vi;
    };
    static const std::map<std::string, Row> rows{
        {"concrete", {{5.67, 5.23, 4.81, 6.03}, {3.16, 3.04, 2.94, 3.06}, 3.22}},
        {"energy", {{1.80, 1.66, 1.09, 2.09}, {2.04, 1.99, 1.72, 1.38}, 0.93}},
        {"kin8nm", {{0.10, 0.10, 0.09, 0.09}, {-0.90, -0.95, -0.97, -1.20}, -1.03}},
        {"power plant", {{4.12, 4.02, 4.00, 4.11}, {2.84, 2.80, 2.79, 2.79}, 2.85}},
        {"red wine", {{0.64, 0.62, 0.61, 0.64}, {0.97, 0.93, 0.92, 0.94}, 1.00}},
        {"yacht", {{1.02, 1.11, 0.72, 1.58}, {1.63, 1.55, 1.38, 1.18}, 2.01}},
    };
    const Row& row = rows.at(set);
    return {{"PBP, published", row.rmse[0], row.nll[0]},
            {"MC dropout, published", row.rmse[1], row.nll[1]},
            {"MC dropout, 10 times the epochs, published", row.rmse[2], row.nll[2]},
            {"ensemble, published", row.rmse[3], row.nll[3]},
            {"VI, published", none, row.vi}};
}
