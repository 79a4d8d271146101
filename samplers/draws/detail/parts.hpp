#pragma once

#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/draws/draws.hpp>

#include <string>
#include <string_view>

// What the sources around Draws share.
namespace pollen::detail {

// f(vector) for all vectors of a record that have one entry for each draw.
template <class F>
void each_vector(ChainRecord& r, const F& f) {
    f(r.energy), f(r.hamiltonian), f(r.acceptance), f(r.step_size), f(r.weight);
    f(r.gradients), f(r.tree_depth), f(r.divergent), f(r.invalid);
}

inline constexpr const char* elsewhere = "rank 0 of the group has the draws, and this rank has none";

// Throws if another rank has the draws. `function` asks for them.
inline void check_here(const char* function, const Draws& draws) {
    if (draws.elsewhere) throw ValueError(std::string(function) + ": " + elsewhere);
}

// Throws if the values are in files alone, or on another rank. `what` was asked for.
inline void check_values(const Draws& draws, std::string_view what) {
    if (draws.elsewhere) throw ValueError("Draws: " + std::string(what) + ": " + elsewhere);
    if (draws.values.rank() == 3) return;
    throw ValueError("Draws: " + std::string(what) +
                     ": the values were not kept in memory (keep = false); read the files with read_stan_csv");
}

}  // namespace pollen::detail
