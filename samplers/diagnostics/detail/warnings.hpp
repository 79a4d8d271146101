#pragma once

#include <pollen/samplers/diagnostics/summary.hpp>

namespace pollen::detail {

// What the table and the warnings are made of.
struct SummaryInput {
    std::span<const std::string> names;
    std::int64_t chains, draws;
    std::span<const QuantitySummary> quantities;
    const SummaryOptions& options;
};

// How many trajectories of a chain are known of, and how many of them went wrong.
struct Trajectories {
    std::int64_t asked = 0, divergent = 0;
    std::int64_t trees = 0, deep = 0;
};
// The E-BFMI of a chain; NaN if it is not known.
double ebfmi_of(const ChainStatistics& statistics);
Trajectories trajectories_of(const ChainStatistics& statistics, int max_tree_depth);

// Throws if names, draws and statistics do not fit together.
void check_summary(const char* function, std::span<const std::string> names, const Shape& draws,
                   const SummaryOptions& options);
std::vector<std::string> make_warnings(const SummaryInput& input);

}  // namespace pollen::detail
