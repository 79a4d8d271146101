#pragma once

#include <pollen/autograd/shares.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>
#include <pollen/samplers/run/detail/chain_state.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace pollen::detail {

// What the chains of a run have in common.
struct RunPlan {
    RunOptions options;
    std::string sampler, precision;
    std::vector<Quantity> quantities;
    std::int64_t value_count = 0, dimensions = 0;
    double state_bytes = 0;  // of one chain
    double temperature = 1;
    bool one_at_a_time = false;  // a chain uses all threads
    bool network = false;
    RunDescription about = {};
    StanCsvRows rows;
    std::int64_t first_chain = 0;  // of those that are run, counted from 0
    Shares shares;                 // of the chains from there on, for the ranks

    std::int64_t steps() const { return options.warmup + options.draws * options.thin; }
    Group& group() const { return options.group ? *options.group : Group::alone(); }
    // The chains that are run, by all ranks and by this one.
    std::int64_t chains() const { return shares.leaves(); }
    std::int64_t own_chains() const { return shares.count(group().rank()); }
    // The first one of this rank, counted from 0 among all chains of the run.
    std::int64_t first_own() const { return first_chain + shares.first(group().rank()); }
    // "4 chains", "4 chains (5 to 8 of 16)"
    std::string chains_text() const;
    // What the state of a chain has in common with that of the saved one. Chains are counted from 1 here, as in files.
    RunDescription about_chain(std::int64_t chain) const;
    // Its file in the directory of this rank: chain_5.csv, chain_5.state.
    std::string file(std::int64_t chain, const char* ending) const;
};

// The plan of a run. `extra` are the quantities that the sampler draws beside those of the potential. Throws if an
// option is impossible, or if the run would need more memory than it may have. `facts`: it has those of model_facts(),
// as the plan of a run with files has.
template <Real T>
RunPlan make_plan(const Potential<T>& potential, const std::string& sampler, const RunOptions& options,
                  const std::vector<Quantity>& extra, double state_bytes, bool facts);

// "1.5 GB"
std::string bytes_text(double bytes);
// What a run takes in memory: its draws, the rows on their way to the disk, and what chains keep.
struct RunMemory {
    double draws = 0, files = 0, chains = 0;

    double total() const { return draws + files + chains; }
    // "0.8 MB of draws, 16.8 MB of file buffers, 5 kB of chains"
    std::string text() const;
};
RunMemory memory_of(const RunPlan& plan);

inline constexpr double number_bytes = 26;  // of the longest number in a row, with its comma
// The bytes of a header with a name for each number of a draw.
double names_bytes(const RunPlan& plan);

}  // namespace pollen::detail
