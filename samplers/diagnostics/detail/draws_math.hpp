#pragma once

#include <pollen/samplers/diagnostics/diagnostics.hpp>

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

// What R-hat, ESS and MCSE share.
namespace pollen::detail {

inline constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

// Chains of equal length, one after the other.
struct ChainBlock {
    std::size_t chains = 0, draws = 0;
    std::vector<double> values;

    std::span<const double> chain(std::size_t c) const { return std::span(values).subspan(c * draws, draws); }
};

// Both halves of each chain as chains of their own; the middle draw of an odd number is left out, a single one kept.
ChainBlock split_chains(std::span<const double> values, std::size_t chains);

// In extended precision and in two passes, which makes the mean of equal numbers that number and their variance 0.
double mean(std::span<const double> x);
double variance(std::span<const double> x);  // over n - 1; NaN for a single number

bool any_nan(std::span<const double> x);
// Whether the draws have no diagnostics: some are not finite, or all are equal.
bool degenerate(std::span<const double> x);

// Of numbers in ascending order, none of them NaN.
double quantile_of_sorted(std::span<const double> sorted, double p);
double median_of_sorted(std::span<const double> sorted);
std::vector<double> sorted(std::span<const double> x);
void check_probability(const char* function, double p);

// Draws in ascending order, each with its place. Sorting is most of what the diagnostics do, so an order is made once
// and used for all that needs it.
struct PlacedDraw {
    double value;
    std::size_t place;
};
std::vector<PlacedDraw> ascending(std::span<const double> x);
// The distances from the median, a finite number, in their own ascending order.
void fold(std::vector<PlacedDraw>& order, double median);
// Phi^-1((rank - 3/8) / (n + 1/4)) at each draw's place, equal draws sharing their mean rank. Infinite draws have ranks
// too.
void normalise_ranks(std::span<const PlacedDraw> order, std::span<double> out);

// The standard normal distribution's quantile function, to 16 digits.
double normal_quantile(double p);
// The quantile function of Beta(a, b), a and b at least 1.
double beta_quantile(double p, double a, double b);

}  // namespace pollen::detail
