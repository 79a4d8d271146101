#pragma once

#include <pollen/samplers/diagnostics/summary.hpp>

#include <charconv>

namespace pollen::detail {

// As printf's %.*f, %.*g and %.*e, whatever the program's locale.
inline std::string to_text(double x, std::chars_format format, int digits) {
    char text[400];
    return {text, std::to_chars(text, text + sizeof text, x, format, digits).ptr};
}

// All that the table and the warnings are made of.
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
// NaN where it is not known.
double ebfmi_of(const ChainStatistics& statistics);
Trajectories trajectories_of(const ChainStatistics& statistics, int max_tree_depth);

// Throws where names, draws and statistics do not fit together.
void check_summary(const char* function, std::span<const std::string> names, const Shape& draws,
                   const SummaryOptions& options);
std::vector<std::string> make_warnings(const SummaryInput& input);

}  // namespace pollen::detail
