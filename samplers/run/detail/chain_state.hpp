#pragma once

#include <pollen/data/io/file.hpp>
#include <pollen/samplers/draws/draws.hpp>
#include <pollen/samplers/draws/row_checksums.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pollen::detail {

// How far a chain is, beside what the chain itself knows.
struct RunState {
    std::int64_t steps = 0, draws = 0;
    RowChecksums rows = {};  // of the chain's file of draws, after its header
    std::int64_t divergences = 0, invalid_steps = 0, deep_steps = 0, gradients = 0;
    TemperatureSums temperature = {};
    // Of the Hamiltonian at all steps after the warm-up, for the E-BFMI: the sums of its squared changes, and of its
    // squared distances from the mean.
    double energy_jumps = 0, energy_mean = 0, energy_spread = 0, energy_last = 0;
    double warmup_seconds = 0, sampling_seconds = 0;
    double step_size = std::numeric_limits<double>::quiet_NaN();  // after the warm-up
    // The energy at the start tells another model, or other data, from this one's.
    double start_prior = 0, start_likelihood = 0;
    std::vector<std::uint64_t> invalid_draws = {};  // which of them met an energy that is not a number
};

// Puts into the record what the state knows of the steps.
void put_into(ChainRecord& record, const RunState& state, std::int64_t warmup);

// What a resumed run must have in common with the saved one: names and texts.
using RunDescription = std::vector<std::pair<std::string, std::string>>;
using VisitState = std::function<void(StateVisitor&)>;

// A safetensors file with everything in it, a version and a checksum; it replaces the one before as a whole. The state
// of the chain is one tensor a name, numbered in the order of the visit.
void write_state(const std::string& path, const RunState& state, const VisitState& visit, const RunDescription& about);

// Restores what write_state saved into a chain that was just begun. A FileError says what is wrong with the file, or
// what differs: another model, sampler, seed, option or version.
RunState read_state(const std::string& path, const VisitState& visit, const RunDescription& about,
                    std::int64_t dimensions, const ReadLimits& limits);
// The same of a file in memory, which messages call by this name.
RunState parse_state(Bytes bytes, const std::string& name, const VisitState& visit, const RunDescription& about,
                     std::int64_t dimensions, const ReadLimits& limits);

// How many steps a saved state has made. Throws as read_state does.
std::int64_t saved_steps(const std::string& path, const RunDescription& about, const ReadLimits& limits);

// What a saved state says without its chain.
struct SavedState {
    RunState state;
    std::map<std::string, std::string> about;  // as a RunDescription
    std::int64_t dimensions = 0;               // 0: not known
};
SavedState read_saved(const std::string& path, const ReadLimits& limits);

}  // namespace pollen::detail
